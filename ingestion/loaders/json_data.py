"""JSON and JSON Lines: values as lines that read alone, a section for each large part, a paragraph for each record.

Figures stand as the file writes them. A file that is not valid is shown as it is and marked ``partial``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.data_lines import data_lines, scalar_text
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

_ENDINGS = frozenset((".json", ".jsonl", ".ndjson", ".geojson", ".jsonc", ".json5", ".webmanifest"))
_LINES_ENDINGS = (".jsonl", ".ndjson")
_HEAD = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"])")
_SECTION_CHARACTERS = 400
"""A part of the top object becomes a section of its own when its lines are longer than this."""
_TITLE_KEYS = ("title", "name", "id")
_MAX_TITLE_CHARACTERS = 120


class NotJson(ValueError):
    """The text is not one JSON value."""


def parse_json(text: str) -> object:
    """The value of JSON text; figures stay strings as written.

    Raises:
        NotJson: For text that is not one JSON value, or is nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def load_json(source: str, *, name: str) -> ParsedDocument:
    """The document of JSON text.

    Raises:
        LoadFailed: ``empty`` when it holds no values.
    """
    text = normalise(source)
    assembly = DocumentAssembly()
    title = ""
    metadata: dict[str, MetadataValue] = {}
    media_type = "application/json"
    try:
        if name.lower().endswith(_LINES_ENDINGS):
            raise NotJson("JSON Lines by name")
        value = parse_json(text)
        title = _title(value)
        _add(assembly, value)
    except NotJson:
        records, broken = _records(text)
        if records and broken * 2 <= len(records):
            media_type = "application/jsonl"
            metadata["rows"] = len(records)
        else:
            broken = 1
            records = []
            assembly.code(text, language="json")
        for record in records:
            assembly.add("paragraph", "\n".join(data_lines(record)))
        if broken:
            metadata["partial"] = True
    return assembly.finish(title=title or title_from_name(name), media_type=media_type, metadata=metadata)


def _records(text: str) -> tuple[list[object], int]:
    """Values of the lines, and how many lines are not valid; such a line is its own value."""
    records: list[object] = []
    broken = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            records.append(parse_json(line))
        except NotJson:
            records.append(line)
            broken += 1
            if broken > 100 and broken * 2 > len(records):
                return [], broken
    return records, broken


def _add(assembly: DocumentAssembly, value: object) -> None:
    if isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            assembly.add("paragraph", "\n".join(data_lines(item, _path_of_item(index, item))))
        return
    if not isinstance(value, Mapping):
        assembly.add("paragraph", scalar_text(value))
        return
    short: list[str] = []
    large: list[tuple[str, object, str]] = []
    for key, item in cast("Mapping[str, object]", value).items():
        body = "\n".join(data_lines(item, (key,)))
        if _is_container(item) and len(body) > _SECTION_CHARACTERS:
            large.append((key, item, body))
        elif body:
            short.append(body)
    assembly.add("paragraph", "\n".join(short))
    for key, item, body in large:
        assembly.heading(key, level=1)
        parts = _items(key, cast("list[object]", item), body) if isinstance(item, list) else [body]
        for part in parts:
            assembly.add("paragraph", part)


def _path_of_item(index: int, item: object) -> tuple[str, ...]:
    return () if isinstance(item, Mapping) else (f"[{index}]",)


def _is_container(value: object) -> bool:
    return isinstance(value, (Mapping, list))


def _items(key: str, items: list[object], body: str) -> list[str]:
    """A paragraph for each record of a list of records, otherwise the list as it is."""
    if not all(isinstance(item, Mapping) for item in items):
        return [body]
    return ["\n".join(data_lines(item, (key, f"[{index}]"))) for index, item in enumerate(items)]


def _title(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    found = (cast("Mapping[str, object]", value).get(key) for key in _TITLE_KEYS)
    return next((text for text in found if isinstance(text, str) and 0 < len(text) <= _MAX_TITLE_CHARACTERS), "")


def _certainty(sample: Sample) -> Certainty:
    if _HEAD.match(sample.text) and _closes(sample.data):
        return 2
    return 1 if sample.ending in _ENDINGS else 0


def _closes(data: bytes) -> bool:
    return data.rstrip(b" \t\r\n\0")[-1:] in (b"}", b"]")


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_json(decode(data).text, name=name)


LOADER = Loader("JSON", _ENDINGS, _certainty, _load)
