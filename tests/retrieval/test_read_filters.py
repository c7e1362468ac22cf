from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.filter_words import MOST_WISHES
from retrieval.read_filters import ReadQuestion, read_filters
from retrieval.store.filters import conditions
from retrieval.store.payload import FACETS, to_payload
from retrieval.types import Chunk, SearchFilter
from tests.retrieval.points import make_chunk

ALL = SearchFilter()


def chunk_of(source: str, collection: str, **metadata: str | int | list[str]) -> Chunk:
    chunk = make_chunk("etcd backup", document=source, collection=collection, metadata=metadata)
    return replace(chunk, source=source)


LIBRARY = [
    chunk_of("/docs/etcd.md", "runbooks", team="sre", date="2024-03-01", tags=["etcd", "backup"]),
    chunk_of("/docs/tls.pdf", "On-Call-Runbooks", team="dev", created="D:20230101120000"),
    chunk_of("/docs/costs.xlsx", "finance", author="Ada Lovelace", year=2022),
    chunk_of("/docs/handbuch.html", "handbook", language="de"),
    chunk_of("https://example.org/values.yaml", "handbook"),
]


def passes(chunk: Chunk, search_filter: SearchFilter) -> bool:
    """The very conditions of the stores, over the payload that they hold."""
    payload = to_payload(chunk)

    def holds(field: str, values: tuple[str, ...]) -> bool:
        return any(value in payload[field] if field == FACETS else value == payload[field] for value in values)

    return all(holds(*condition) for condition in conditions(search_filter))


def count(search_filter: SearchFilter) -> int:
    return sum(passes(chunk, search_filter) for chunk in LIBRARY)


def read(question: str, within: SearchFilter = ALL, drop: tuple[str, ...] = ()) -> ReadQuestion:
    return read_filters(question, within=within, count=count, drop=drop)


def seen(found: ReadQuestion) -> set[str]:
    return {chunk.source for chunk in LIBRARY if passes(chunk, found.search_filter)}


@pytest.mark.parametrize(
    ("question", "name", "words", "sources"),
    [
        ("How do I back up etcd in the runbooks collection?", "collection=runbooks", "in the runbooks collection", 0),
        ("In case of a fault in the runbooks collection, what now?", "collection=runbooks", "in the runbooks coll", 0),
        ("search the collection 'On-Call-Runbooks' for TLS", "collection=On-Call-Runbooks", "search the coll", 1),
        ("What expires, in our on call runbooks collection?", "collection=On-Call-Runbooks", "in our on call", 1),
        ("collection: finance costs per node", "collection=finance", "collection: finance", 2),
        ("What is tagged team=sre about etcd?", "team=sre", "tagged team=sre", 0),
        ("Which pages tagged backup mention disks?", "tag=backup", "tagged backup", 0),
        ("What does the page written by Ada Lovelace say of nodes?", "author=Ada Lovelace", "written by Ada L", 2),
        ("What was the outage from 2024?", "year=2024", "from 2024", 0),
        ("reports dated 2023 on certificates", "year=2023", "dated 2023", 1),
        ("pages from 2020 to 2022 on costs", "year=2020..2022", "from 2020 to 2022", 2),
        ("documents written before 2023 on costs", "year<2023", "written before 2023", 2),
        ("pages since 2024 on disks", "year>=2024", "pages since 2024", 0),
        ("In PDF files, when do certificates expire?", "file:type=pdf", "In PDF files", 1),
        ("What do nodes cost, in the spreadsheets?", "file:type=spreadsheet", "in the spreadsheets", 2),
        ("Look in YAML files for the replica count", "file:type=yaml", "Look in YAML files", 4),
        ("Was steht in German documents about backup?", "language=de", "in German documents", 3),
    ],
)
def test_words_that_name_something_stored_become_a_filter(question: str, name: str, words: str, sources: int) -> None:
    found = read(question)
    (read_filter,) = found.filters
    assert read_filter.applied
    assert read_filter.name == name
    assert read_filter.words.startswith(words)
    assert seen(found) == {LIBRARY[sources].source}
    assert read_filter.words not in found.query
    assert len(found.query) < len(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is a garbage collection pause?",
        "How does the invoices collection grow?",
        "How do I drop a table in the orders collection?",
        "Which pods are labelled app=nginx?",
        "What changed from 2019?",
        "Was TLS 1.3 supported before 2024?",
        "How do I mount a config map in YAML files?",
        "How do I sum a column in Excel?",
        "How do I say backup in German?",
        "Update from 2024.1 to 2024.2",
        "Errors from 2024-03-01T10:00",
        "",
    ],
)
def test_other_words_are_left_alone(question: str) -> None:
    found = read(question)
    assert found == ReadQuestion(question, ALL)


def test_a_filter_that_was_dropped_is_told_and_does_not_act() -> None:
    question = "What is in the runbooks collection about etcd?"
    found = read(question, drop=("collection=runbooks",))
    assert [(one.name, one.applied) for one in found.filters] == [("collection=runbooks", False)]
    assert (found.query, found.search_filter) == (question, ALL)


def test_filters_act_together_until_one_would_leave_nothing() -> None:
    found = read("In PDF files in the on-call runbooks collection from 2024, what is etcd?")
    assert [(one.kind, one.applied) for one in found.filters] == [
        ("file_type", True),
        ("collection", True),
        ("year", False),
    ]
    assert seen(found) == {"/docs/tls.pdf"}
    assert found.query == "from 2024, what is etcd?"


def test_a_question_of_filters_alone_is_searched_whole() -> None:
    found = read("in the runbooks collection")
    assert found.query == "in the runbooks collection"
    assert seen(found) == {"/docs/etcd.md"}


def test_what_may_not_be_seen_is_not_even_known() -> None:
    asked: list[SearchFilter] = []
    finance = SearchFilter(collections=("finance",))

    def counting(search_filter: SearchFilter) -> int:
        asked.append(search_filter)
        return count(search_filter)

    found = read_filters(
        "in the runbooks collection, tagged team=sre, from 2024, in PDF files", within=finance, count=counting
    )
    assert found.filters == ()
    assert found.search_filter == finance
    assert all(not passes(chunk, one) for one in asked for chunk in LIBRARY if chunk.collection != "finance")


def test_a_pasted_log_costs_few_counts() -> None:
    asked: list[SearchFilter] = []

    def counting(search_filter: SearchFilter) -> int:
        asked.append(search_filter)
        return 0

    read_filters("written by root from 2024 " * 200, within=ALL, count=counting)
    assert 0 < len(asked) <= MOST_WISHES


WORDS = ("in", "the", "runbooks", "collection", "tagged", "team=sre", "from", "2024", "PDF", "files", "etcd", "'", ",")


@given(
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.sampled_from([ALL, SearchFilter(collections=("finance", "runbooks")), SearchFilter(metadata={"team": "dev"})]),
)
@example("in the runbooks collection from 2024", ALL)
def test_filters_from_words_never_widen_the_given_one_and_never_empty_it(question: str, within: SearchFilter) -> None:
    found = read(question, within)
    before = {chunk.source for chunk in LIBRARY if passes(chunk, within)}
    assert seen(found) <= before
    assert seen(found)
    assert found == read(question, within)
