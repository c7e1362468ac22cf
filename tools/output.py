"""Long tool output: head and tail kept for the model, a note of what was cut and the handle to the rest."""

from __future__ import annotations

from typing import NamedTuple

HEAD_SHARE = 0.7
"""Most answers stand at the start; errors and totals stand at the end."""


class CappedOutput(NamedTuple):
    """Text for the model, and whether something was cut from it."""

    text: str
    truncated: bool


def cap_output(text: str, *, max_chars: int, handle: str) -> CappedOutput:
    """Cut the middle out of text longer than ``max_chars``, at line ends where one is near.

    Args:
        text: The whole output.
        max_chars: Longest text returned, the note not counted.
        handle: Call id under which the whole output can be read.
    """
    if len(text) <= max_chars:
        return CappedOutput(text, truncated=False)
    head_chars = int(max_chars * HEAD_SHARE)
    head = text[:head_chars]
    tail = text[len(text) - (max_chars - head_chars) :]
    head = head[: head.rfind("\n") + 1] if "\n" in head[head_chars // 2 :] else head
    first_line_end = tail.find("\n", 0, len(tail) // 2)
    tail = tail[first_line_end + 1 :] if first_line_end >= 0 else tail
    cut = len(text) - len(head) - len(tail)
    note = f"[{cut} characters cut; the whole output is stored under {handle}]"
    return CappedOutput(f"{head.rstrip()}\n{note}\n{tail.lstrip()}", truncated=True)
