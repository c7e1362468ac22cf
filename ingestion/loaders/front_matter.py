"""The metadata block at the head of a Markdown file: YAML between ``---`` lines or TOML between ``+++`` lines."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from typing import NamedTuple, cast

import yaml

from ingestion.loaders.normalise import normalise
from retrieval.types import MetadataValue

_BLOCK = re.compile(r"\A\s*?(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_CHARACTERS = 64_000
_MAX_ITEMS = 200


class FrontMatter(NamedTuple):
    """Metadata and the body behind it; no metadata and the whole source where there is no valid block."""

    metadata: dict[str, MetadataValue]
    body: str


def split_front_matter(source: str) -> FrontMatter:
    """Separate a file's metadata from its body; a block that is not valid stays in the body."""
    match = _BLOCK.match(source)
    if match is None or len(match[2]) > _MAX_CHARACTERS:
        return FrontMatter({}, source)
    try:
        parsed: object = yaml.safe_load(match[2]) if match[1] == "---" else tomllib.loads(match[2])
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return FrontMatter({}, source)
    if parsed is None:
        return FrontMatter({}, source[match.end() :])
    if not isinstance(parsed, Mapping):
        return FrontMatter({}, source)
    return FrontMatter(flat_metadata(cast("Mapping[object, object]", parsed)), source[match.end() :])


def flat_metadata(values: Mapping[object, object]) -> dict[str, MetadataValue]:
    """Plain values and lists of plain values of a mapping; dates as ISO 8601, all else is left out."""
    metadata: dict[str, MetadataValue] = {}
    for key, value in list(values.items())[:_MAX_ITEMS]:
        if isinstance(value, list):
            items = [_scalar(item) for item in cast("list[object]", value)[:_MAX_ITEMS]]
            metadata[normalise(str(key))] = [str(item) for item in items if item is not None]
        elif (scalar := _scalar(value)) is not None:
            metadata[normalise(str(key))] = scalar
    return metadata


def _scalar(value: object) -> str | int | float | bool | None:
    if isinstance(value, str):
        return normalise(value)
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return None
