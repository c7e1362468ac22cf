"""Markdown: the body of the file is the stored text; the parser only says where blocks begin and end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import HeadingStack, clean_title, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.front_matter import split_front_matter
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.shortcodes import clean_shortcodes
from ingestion.loaders.text import paragraph_blocks
from ingestion.types import Block, BlockKind, ParsedDocument

_ENDINGS = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mdx"))
_PARSER = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "paragraph",
}
_HEADING_ID = re.compile(r"\s*\{#[^}]*\}\s*$")
_INLINE_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>\n]*>|[*`]+")
_THEMATIC_BREAK = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}\s*\Z")


def load_markdown(source: str, *, name: str) -> ParsedDocument:
    """The document of Markdown text; front matter becomes metadata, the first level-1 heading may give the title.

    A file of front matter alone, as section pages of documentation are, has its title and description as text.

    Raises:
        LoadFailed: ``empty`` when there is no text at all.
    """
    metadata, body = split_front_matter(normalise(source))
    text = normalise(clean_shortcodes(body)).strip("\n") + "\n"
    if not text.strip():
        words = [metadata.get(key) for key in ("title", "description")]
        text = "\n\n".join(word for word in words if isinstance(word, str))
    blocks = tuple(_blocks(text))
    if not blocks:
        raise LoadFailed("empty", "The file holds no text.")
    title = metadata.get("title")
    if not isinstance(title, str) or not title.strip():
        tops = (block.heading_path[-1] for block in blocks if block.kind == "heading" and len(block.heading_path) == 1)
        title = next(tops, title_from_name(name))
    return ParsedDocument(clean_title(title), text, blocks, "text/markdown", metadata=metadata)


def _blocks(text: str) -> list[Block]:
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    headings = HeadingStack()
    blocks: list[Block] = []
    position = 0
    tokens = _PARSER.parse(text)
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None or token.level != 0 or token.map is None:
            continue
        start, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
        blocks.extend(_between(text, position, start, headings.path))
        if kind == "heading":
            headings.enter(int(token.tag[1]), _heading_text(tokens, index))
        blocks.extend(_trimmed(text, start, end, kind, headings.path, _language(token)))
        position = max(position, end)
    blocks.extend(_between(text, position, len(text), headings.path))
    return blocks


def _between(text: str, start: int, end: int, path: tuple[str, ...]) -> list[Block]:
    """What the parser has no block for: reference definitions. Rules between sections carry no text."""
    if _THEMATIC_BREAK.match(text, start, end):
        return []
    return paragraph_blocks(text, start, end, path)


def _trimmed(text: str, start: int, end: int, kind: BlockKind, path: tuple[str, ...], language: str) -> Sequence[Block]:
    body = text[start:end]
    if not body.strip():
        return ()
    first = start + len(body) - len(body.lstrip("\n"))
    return (Block(kind, first, start + len(body.rstrip()), path, None, language),)


def _heading_text(tokens: Sequence[Token], index: int) -> str:
    content = _HEADING_ID.sub("", tokens[index + 1].content)
    return collapse(_INLINE_MARKS.sub(lambda match: match[1] or "", content)) or collapse(content)


def _language(token: Token) -> str:
    words = token.info.split()
    return words[0].strip("{}.").lower() if words else ""


def _certainty(sample: Sample) -> Certainty:
    """By the ending alone: text with Markdown's marks under another name is shown as it is written."""
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_markdown(decode(data).text, name=name)


LOADER = Loader("Markdown", _ENDINGS, _certainty, _load)
