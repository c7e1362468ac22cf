// Draws an answer from a tree of known elements. Text becomes text nodes and nothing is ever parsed as HTML, so no
// answer can bring elements, attributes or scripts of its own.

const PLAIN = new Set([
  "a", "blockquote", "br", "code", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
  "table", "tbody", "td", "th", "thead", "tr", "ul", "mark",
]);
const GLYPHS = { verified: "✓", partial: "≈", unsupported: "!" };

function build(node, context) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  if (tag === "citation") return citationButton(Number(attributes.number), context);
  if (tag === "verdict") return verdictButton(context.claims[Number(attributes.claim)], context);
  const element = document.createElement(PLAIN.has(tag) ? tag : "span");
  if (tag === "span") element.className = `claim ${context.claims[Number(attributes.claim)]?.verdict ?? ""}`;
  if (tag === "a" && /^(https?|mailto):/i.test(attributes.href ?? "")) {
    element.href = attributes.href;
    element.target = "_blank";
    element.rel = "noopener noreferrer nofollow";
    element.title = attributes.href;
  }
  if (tag === "ol" && attributes.start) element.start = Number(attributes.start);
  for (const child of children) element.append(build(child, context));
  if (tag !== "table") return element;
  const scroll = document.createElement("div");
  scroll.className = "gw-scroll";
  scroll.append(element);
  return scroll;
}

function button(kind, label, name) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = kind;
  element.textContent = label;
  element.setAttribute("aria-label", name);
  return element;
}

function citationButton(number, context) {
  const citation = context.citations[number];
  if (!citation) return document.createTextNode(`[${number}]`);
  const element = button("cite", String(number), `Source ${number}: ${citation.place}`);
  element.setAttribute("aria-haspopup", "dialog");
  element.addEventListener("click", () => {
    context.tip.hidden = true;
    context.open(number);
  });
  explain(element, citation.place, `“${citation.quote}”`, context);
  return element;
}

function verdictButton(claim, context) {
  if (!claim) return document.createTextNode("");
  const element = button(`verdict ${claim.verdict}`, GLYPHS[claim.verdict] ?? "?", `${claim.label}. ${claim.explanation}`);
  explain(element, claim.label, claim.explanation, context);
  element.addEventListener("click", () => show(element, claim.label, claim.explanation, context.tip));
  return element;
}

function explain(element, title, text, { tip }) {
  const open = () => show(element, title, text, tip);
  const close = () => { tip.hidden = true; };
  element.addEventListener("mouseenter", open);
  element.addEventListener("focus", open);
  element.addEventListener("mouseleave", close);
  element.addEventListener("blur", close);
  element.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
}

function show(element, title, text, tip) {
  const head = document.createElement("b");
  head.textContent = title;
  tip.replaceChildren(head, document.createTextNode(text));
  tip.hidden = false;
  const at = element.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, window.innerWidth - tip.offsetWidth - 8));
  const above = at.top - tip.offsetHeight - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : at.bottom + 6}px`;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".gw");
  const tip = parentElement.querySelector(".gw-tip");
  const drawn = JSON.stringify(data);
  if (root.drawn === drawn) return;
  root.drawn = drawn;
  const context = { ...data, tip, open: (number) => setTriggerValue("citation", number) };
  root.replaceChildren(...data.tree.map((node) => build(node, context)));
}
