// Moves the keyboard to one button, once for each of its appearances; never away from a field somebody types in.
const done = new Set();

export default function ({ data }) {
  if (done.has(data.key)) return;
  const active = document.activeElement;
  if (active && ["INPUT", "TEXTAREA"].includes(active.tagName) && active.value) return;
  const button = document.querySelector(`.st-key-${CSS.escape(data.key)} button`);
  if (!button) return;
  done.add(data.key);
  button.focus({ preventScroll: true });
}
