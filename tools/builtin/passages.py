"""Passages in a tool's result: words for the model, the same passages for programs, so that an answer can cite them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

from pydantic import JsonValue

from retrieval.types import Chunk


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of stored text that an answer may quote.

    Attributes:
        document_id: The stored document; empty for text that is not stored, such as a web page.
        chunk_id: The chunk it lies in; empty where there is none.
        source: Where the text came from: a path or a URL.
        title: Title of the document.
        section: Headings above the passage, outermost first.
        page: One-based page; None where there are no pages.
        char_start: Offset of its first character in the document's text, in code points.
        char_end: Offset behind its last character.
        text: ``document_text[char_start:char_end]``.
    """

    document_id: str
    chunk_id: str
    source: str
    title: str
    section: str
    page: int | None
    char_start: int
    char_end: int
    text: str


def passage_of(chunk: Chunk) -> Passage:
    """A whole chunk as a passage."""
    return Passage(
        document_id=chunk.document_id,
        chunk_id=chunk.chunk_id,
        source=chunk.source,
        title=chunk.title,
        section=chunk.section,
        page=chunk.page,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        text=chunk.text,
    )


def structured(passages: Sequence[Passage]) -> dict[str, JsonValue]:
    """The structured result: ``{"passages": [...]}``, one object a passage with the fields of ``Passage``."""
    return {"passages": [cast(dict[str, JsonValue], asdict(passage)) for passage in passages]}


def place(passage: Passage) -> str:
    """Where a passage stands, in words: title, section, page."""
    page = f"page {passage.page}" if passage.page is not None else ""
    section = passage.section.removeprefix(passage.title).removeprefix(" > ")
    return ", ".join(part for part in (passage.title or passage.source, section, page) if part)
