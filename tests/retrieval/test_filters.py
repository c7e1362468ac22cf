from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import NOWHERE, narrowed
from retrieval.types import Chunk, SearchFilter
from tests.retrieval.oracle import may_be_seen
from tests.retrieval.points import make_chunk, uuid_of

DOCUMENTS = ("a", "b", "c")
NAMES = ("ops", "hr", "legal")
VALUES = ("sre", "dev", 2024, True)

chunks = st.builds(
    make_chunk,
    st.just("pod"),
    document=st.sampled_from(DOCUMENTS),
    collection=st.sampled_from(NAMES),
    metadata=st.dictionaries(
        st.sampled_from(("team", "tags")), st.one_of(st.sampled_from(VALUES), st.just(["sre", "dev"])), max_size=2
    ),
)
pairs = st.tuples(st.sampled_from(("team", "tags")), st.sampled_from(VALUES))
filters = st.builds(
    SearchFilter,
    collections=st.lists(st.sampled_from(NAMES), unique=True, max_size=2).map(tuple),
    document_ids=st.lists(st.sampled_from([uuid_of(name) for name in DOCUMENTS]), unique=True, max_size=2).map(tuple),
    metadata=st.dictionaries(st.sampled_from(("team", "tags")), st.sampled_from(VALUES), max_size=2),
    any_of=st.lists(st.lists(pairs, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
)


@given(filters, filters, chunks)
def test_two_filters_together_let_through_what_both_do(outer: SearchFilter, inner: SearchFilter, chunk: Chunk) -> None:
    both = may_be_seen(chunk, outer) and may_be_seen(chunk, inner)
    assert may_be_seen(chunk, narrowed(outer, inner)) is both


@given(filters, chunks)
def test_nothing_widens_a_filter_that_lets_nothing_through(inner: SearchFilter, chunk: Chunk) -> None:
    assert not may_be_seen(chunk, narrowed(NOWHERE, inner))
    assert not may_be_seen(chunk, narrowed(inner, NOWHERE))
