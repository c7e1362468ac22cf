"""Prompts are Markdown files beside the code: loaded once, filled by name, a missing name raises."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from string import Template

PROMPTS = Path(__file__).parent / "prompts"
_BORDER = re.compile(r"<(?=\s*/?\s*passage\b)", re.IGNORECASE)
_CONTROL = re.compile(r"<(?=\|)|(?<=\|)>|\[(?=/?INST\])|<(?=/?s>)")
LEFT, RIGHT = "‹", "›"
"""Stand in for angle brackets that would read as a border of a passage or as a control token of a chat template."""


@lru_cache(maxsize=32)
def load_prompt(name: str) -> str:
    """Text of ``prompts/NAME.md`` without surrounding blank lines; raises ``FileNotFoundError`` for an unknown name."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()


def fill_prompt(name: str, **values: str) -> str:
    """The prompt with every ``$name`` filled; raises ``KeyError`` when a value is missing."""
    return Template(load_prompt(name)).substitute(values)


def neutralise(text: str) -> str:
    """Text that cannot leave its place in a prompt: passage borders and chat control tokens lose their brackets."""
    text = _BORDER.sub(LEFT, text)
    return _CONTROL.sub(lambda match: RIGHT if match.group() == ">" else LEFT, text)


def render_passage(number: int, *, title: str, section: str, text: str) -> str:
    """A passage as numbered data with clear borders."""
    heading = neutralise(" > ".join(dict.fromkeys(part for part in (title, section) if part))).replace('"', "'")
    heading = " ".join(heading.split())
    return f'<passage number="{number}" from="{heading}">\n{neutralise(text).strip()}\n</passage>'
