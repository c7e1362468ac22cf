"""Plain text: paragraphs at blank lines, nothing else is assumed."""

from __future__ import annotations

import re

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.types import Block, BlockKind, ParsedDocument

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_LIST_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s")


def load_text(source: str, *, name: str) -> ParsedDocument:
    """The document of decoded plain text; its title is the file's name.

    Raises:
        LoadFailed: ``empty`` when there is no text.
    """
    text = normalise(source)
    blocks = tuple(paragraph_blocks(text, 0, len(text)))
    if not blocks:
        raise LoadFailed("empty", "The file holds no text.")
    return ParsedDocument(title=title_from_name(name), text=text, blocks=blocks, media_type="text/plain")


def paragraph_blocks(text: str, start: int, end: int, heading_path: tuple[str, ...] = ()) -> list[Block]:
    """Blocks of the paragraphs in a part of the text, trimmed; none for white space alone."""
    blocks: list[Block] = []
    position = start
    while position < end:
        gap = _BLANK_LINES.search(text, position, end)
        stop = gap.start() if gap else end
        body = text[position:stop]
        if body.strip():
            first = position + len(body) - len(body.lstrip("\n"))
            kind: BlockKind = "list" if _LIST_ITEM.match(body.lstrip("\n")) else "paragraph"
            blocks.append(Block(kind, first, position + len(body.rstrip()), heading_path))
        position = gap.end() if gap else end
        if gap:
            position = text.rfind("\n", gap.start(), gap.end()) + 1
    return blocks


def _certainty(_sample: Sample) -> Certainty:
    """Every file is text until another loader says what it is."""
    return 1


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_text(decode(data).text, name=name)


LOADER = Loader("text", frozenset((".txt", ".text", ".log", ".asc")), _certainty, _load)
