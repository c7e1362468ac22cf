"""YAML: the text of the file as it is, comments included, cut at documents and top-level keys.

The text is not parsed, so aliases that multiply cost nothing. A Kubernetes object gives its kind and name as section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.types import Block, ParsedDocument

_ENDINGS = frozenset((".yaml", ".yml"))
_SEPARATOR = re.compile(r"^(?:---|\.\.\.)(?=[ \t\n]|\Z)", re.MULTILINE)
_TOP_KEY = re.compile(r"^(?:#.*\n){0,50}[^\s#\-\]}][^\n]*?:(?=[ \t\n]|\Z)", re.MULTILINE)
_TOP_ITEM = re.compile(r"^(?:#.*\n){0,50}-[ \t\n]", re.MULTILINE)
_KIND = re.compile(r"^kind:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)
_NAME = re.compile(
    r"^metadata:[ \t]*\n(?:[ \t]+\S.*\n|[ \t]*\n){0,500}?[ \t]+name:[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE
)
_TITLE = re.compile(r"^(?:title|name):[ \t]*[\"']?([^\n\"'#{}\[\]|>&*]+)", re.MULTILINE)


def load_yaml(source: str, *, name: str) -> ParsedDocument:
    """The document of YAML text.

    Raises:
        LoadFailed: ``empty`` when there is no text.
    """
    text = normalise(source)
    blocks = tuple(block for start, end in _documents(text) for block in _blocks(text, start, end))
    if not blocks:
        raise LoadFailed("empty", "The file holds no text.")
    title = _TITLE.search(text) if "kind:" not in text else None
    return ParsedDocument(
        title=(title[1].strip() if title else "") or title_from_name(name),
        text=text,
        blocks=blocks,
        media_type="application/yaml",
    )


def _documents(text: str) -> Iterator[tuple[int, int]]:
    marks = [match.start() for match in _SEPARATOR.finditer(text)]
    starts = sorted({0, *marks})
    yield from zip(starts, [*starts[1:], len(text)], strict=True)


def _blocks(text: str, start: int, end: int) -> Iterator[Block]:
    path = _section(text[start:end])
    cuts = [match.start() for match in _TOP_KEY.finditer(text, start, end)]
    cuts = cuts or [match.start() for match in _TOP_ITEM.finditer(text, start, end)]
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        body = text[first:last]
        if body.strip():
            begin = first + len(body) - len(body.lstrip("\n"))
            yield Block("code", begin, first + len(body.rstrip()), path, None, "yaml")


def _section(document: str) -> tuple[str, ...]:
    kind, name = _KIND.search(document), _NAME.search(document)
    if kind is None:
        return ()
    return (f"{kind[1]} {name[1]}" if name else kind[1],)


def _certainty(sample: Sample) -> Certainty:
    """By the ending alone: nearly all text is valid YAML."""
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_yaml(decode(data).text, name=name)


LOADER = Loader("YAML", _ENDINGS, _certainty, _load)
