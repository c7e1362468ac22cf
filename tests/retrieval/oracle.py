"""What a filter means, said a second time without a store: the measure of the leak tests."""

from __future__ import annotations

from retrieval.types import Chunk, FilterValue, SearchFilter


def may_be_seen(chunk: Chunk, search_filter: SearchFilter) -> bool:
    """Whether the filter lets the chunk through."""
    named = [
        (search_filter.collections, chunk.collection),
        (search_filter.sources, chunk.source),
        (search_filter.document_ids, chunk.document_id),
        (search_filter.versions, chunk.version),
    ]
    if any(allowed and value not in allowed for allowed, value in named):
        return False
    every = all(_has(chunk, key, value) for key, value in search_filter.metadata.items())
    return every and all(any(_has(chunk, *pair) for pair in group) for group in search_filter.any_of)


def _has(chunk: Chunk, key: str, wanted: FilterValue) -> bool:
    value = chunk.metadata.get(key)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return any(_spelled(one) == _spelled(wanted) for one in values)


def _spelled(value: FilterValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")
