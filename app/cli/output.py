"""Printing: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console


def results() -> Console:
    """Console on stdout for what the command was asked for; no wrapping where stdout is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000, no_color=True)


def notes() -> Console:
    """Console on stderr for progress and remarks."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def write_json(result: BaseModel) -> None:
    """Write a result as JSON, alone on stdout."""
    sys.stdout.write(result.model_dump_json(indent=2) + "\n")
    sys.stdout.flush()


def write_text(text: str) -> None:
    """Write text to stdout as it is, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_error(sentence: str) -> None:
    """Write one sentence to stderr, at once."""
    sys.stderr.write(sentence.rstrip() + "\n")
    sys.stderr.flush()


def place(page: int | None, section: str) -> str:
    """Where in a document a passage stands, for people; empty when nothing is known."""
    parts = [f"page {page}" if page is not None else "", section]
    return ", ".join(part for part in parts if part)


def size(size_bytes: int) -> str:
    """A size for people, decimal units."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"
