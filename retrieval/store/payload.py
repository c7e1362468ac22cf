"""A chunk as a Qdrant payload and back, the same in both homes; the round trip is exact."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from retrieval.types import Chunk

DENSE = "dense"
"""Name of the dense vector."""
SPARSE = "bm25"
"""Name of the sparse vector."""
FACETS = "facets"
"""Field of all metadata pairs as strings: one index serves every metadata key, whatever its name and type."""
VERSION = "version"
"""Field of the document version that a chunk is of; versions that are hidden are left out of searches."""
INDEXED_FIELDS = ("collection", "source", "document_id", VERSION, FACETS)
"""Fields that filters look at; each has a keyword index."""
FILE_TYPE = "file:type"
"""Key of a derived facet: the ending of the source's name, lower case, without its dot."""
DATE_YEAR = "date:year"
"""Key of a derived facet: the year of the first of ``DATE_KEYS`` that the metadata has."""
DATE_KEYS = ("date", "published", "created", "year", "updated", "modified", "lastmod")
"""Metadata keys that hold when a document was written, the most telling first."""

_ENDING = re.compile(r"\.([A-Za-z0-9]{1,8})(?:[?#].*)?$", re.DOTALL)
_HOST_ALONE = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*")
_YEAR = re.compile(r"(?:D:)?((?:19|20)[0-9]{2})(?=[0-9]{4}|[^0-9.]|$)")


def to_payload(chunk: Chunk) -> dict[str, Any]:
    """Everything of the chunk but its id, which is the point's id, with its facets beside."""
    payload = asdict(chunk)
    del payload["chunk_id"]
    payload["heading_path"] = list(chunk.heading_path)
    payload["metadata"] = dict(chunk.metadata)
    payload[FACETS] = _facets(chunk)
    return payload


def from_payload(chunk_id: str, payload: Mapping[str, Any]) -> Chunk:
    """The chunk that ``to_payload`` was given."""
    fields = dict(payload)
    fields.pop(FACETS, None)
    fields["heading_path"] = tuple(fields["heading_path"])
    return Chunk(chunk_id=chunk_id, **fields)


def facet(key: str, value: str | int | float | bool) -> str:
    """One metadata pair as a string.

    Equal values give equal facets: ``1`` and ``1.0`` are the same number. A text equals the number or truth value
    that it spells, so a filter that was typed on a command line finds numbers too.
    """
    if isinstance(value, bool):
        spelled = "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        spelled = str(int(value))
    else:
        spelled = str(value)
    return json.dumps([key, spelled], ensure_ascii=False)


def _facets(chunk: Chunk) -> list[str]:
    pairs = [
        (key, part) for key, value in chunk.metadata.items() for part in (value if isinstance(value, list) else [value])
    ]
    return sorted({facet(key, part) for key, part in [*pairs, *_derived(chunk)]})


def _derived(chunk: Chunk) -> Iterator[tuple[str, str]]:
    """What a chunk can be filtered by that no metadata says outright."""
    if not _HOST_ALONE.fullmatch(chunk.source) and (ending := _ENDING.search(chunk.source)):
        yield FILE_TYPE, ending[1].lower()
    dates = (str(chunk.metadata[key]) for key in DATE_KEYS if key in chunk.metadata)
    if year := next((match[1] for date in dates if (match := _YEAR.match(date))), None):
        yield DATE_YEAR, year
