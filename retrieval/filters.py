"""What search filters mean together: one narrowed by another. Knows no store.

Filters are the one place where access is decided: a store applies them inside each leg and to everything else that it
reads. Whoever reads stored text for somebody takes that person's filter and narrows it; nothing widens one.
"""

from __future__ import annotations

from retrieval.store.payload import facet
from retrieval.types import SearchFilter

NOWHERE = SearchFilter(document_ids=("",))
"""Lets nothing through: no document has an empty id."""


def narrowed(outer: SearchFilter, inner: SearchFilter) -> SearchFilter:
    """A filter that lets through what both let through; ``NOWHERE`` where they name nothing in common."""
    collections = _common(outer.collections, inner.collections)
    sources = _common(outer.sources, inner.sources)
    document_ids = _common(outer.document_ids, inner.document_ids)
    versions = _common(outer.versions, inner.versions)
    if collections is None or sources is None or document_ids is None or versions is None:
        return NOWHERE
    metadata = dict(outer.metadata)
    any_of = [*outer.any_of]
    for key, value in inner.metadata.items():
        known = metadata.setdefault(key, value)
        if facet(key, known) != facet(key, value):
            # A list in a document can hold both values, so both have to match.
            any_of.append(((key, value),))
    any_of += [group for group in inner.any_of if group not in any_of]
    return SearchFilter(collections, sources, document_ids, versions, metadata, tuple(any_of))


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names that both allow, none of them meaning all; None where they allow nothing together."""
    if not first or not second:
        return first or second
    return tuple(name for name in second if name in first) or None
