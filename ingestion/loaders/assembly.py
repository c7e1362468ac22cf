"""Builds a parsed document block by block, so that offsets are true by construction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from ingestion.errors import LoadFailed
from ingestion.loaders.normalise import collapse, normalise
from ingestion.types import Block, BlockKind, ParsedDocument
from retrieval.types import MetadataValue

_MAX_TITLE_CHARACTERS = 300


class DocumentAssembly:
    """Collects blocks in reading order; text between blocks is one blank line."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._headings = HeadingStack()

    def heading(self, text: str, *, level: int, page: int | None = None) -> None:
        """Add a heading and make it the section of what follows; white space is collapsed."""
        line = collapse(normalise(text))
        if line:
            self._headings.enter(level, line)
            self._append("heading", line, page, "")

    def add(self, kind: BlockKind, text: str, *, page: int | None = None, language: str = "") -> None:
        """Add a block under the current heading; nothing is added for white space alone."""
        body = normalise(text).rstrip().lstrip("\n")
        if body.strip():
            self._append(kind, body, page, language)

    def code(self, text: str, *, language: str = "") -> None:
        """Add a block of code in a fence that its text does not hold."""
        body = text.strip("\n")
        if body.strip():
            fence = "````" if "```" in body else "```"
            self.add("code", f"{fence}{language}\n{body}\n{fence}", language=language)

    def include(self, document: ParsedDocument, *, level: int = 0) -> None:
        """Add all blocks of another document; its outermost headings come ``level`` below the outermost here."""
        for block in document.blocks:
            body = document.text[block.char_start : block.char_end]
            if block.kind == "heading":
                self.heading(block.heading_path[-1], level=level + len(block.heading_path))
            else:
                self.add(block.kind, body, language=block.language)

    def finish(
        self,
        *,
        title: str,
        media_type: str,
        page_count: int | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
    ) -> ParsedDocument:
        """The document.

        Raises:
            LoadFailed: ``empty`` when no block was added.
        """
        if not self._blocks:
            raise LoadFailed("empty", "The file holds no text.")
        return ParsedDocument(
            title=clean_title(title),
            text="".join(self._parts),
            blocks=tuple(self._blocks),
            media_type=media_type,
            page_count=page_count,
            metadata=dict(metadata or {}),
        )

    def _append(self, kind: BlockKind, body: str, page: int | None, language: str) -> None:
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        self._parts.append(body)
        self._length += len(body)
        self._blocks.append(Block(kind, start, self._length, self._headings.path, page, language))


class HeadingStack:
    """The headings above the current place; a heading closes those of its own level and below."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, str]] = []

    def enter(self, level: int, text: str) -> None:
        """Open a section; level 1 is outermost."""
        self._entries = [entry for entry in self._entries if entry[0] < level]
        self._entries.append((level, text))

    @property
    def path(self) -> tuple[str, ...]:
        """Open headings, outermost first."""
        return tuple(text for _, text in self._entries)


def clean_title(title: str) -> str:
    """A title on one line, not longer than a few lines of a list."""
    return collapse(normalise(title))[:_MAX_TITLE_CHARACTERS]


def title_from_name(name: str) -> str:
    """The file's name without its ending: the title of documents that carry none."""
    return PurePath(name).stem or name
