"""What a search filter means to a store, before any library's words for it."""

from __future__ import annotations

from typing import NamedTuple

from retrieval.store.payload import FACETS, VERSION, facet
from retrieval.types import SearchFilter


class Condition(NamedTuple):
    """The payload field must hold one of the values."""

    field: str
    values: tuple[str, ...]


def conditions(search_filter: SearchFilter) -> list[Condition]:
    """Conditions that must all hold; none for a filter that restricts nothing."""
    fields = {
        "collection": search_filter.collections,
        "source": search_filter.sources,
        "document_id": search_filter.document_ids,
        VERSION: search_filter.versions,
    }
    restricting = [Condition(field, values) for field, values in fields.items() if values]
    pairs = [((key, value),) for key, value in search_filter.metadata.items()]
    groups = [Condition(FACETS, tuple(facet(*pair) for pair in group)) for group in (*pairs, *search_filter.any_of)]
    return restricting + groups
