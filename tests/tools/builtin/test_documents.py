from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from retrieval.types import SearchFilter, SearchWarning
from tests.tools.builtin.shelf import TEXT, Shelf
from tools.arguments import validate_arguments
from tools.builtin.read_document import MAX_CHARS, read_document_tool
from tools.builtin.search_documents import MAX_HITS, search_documents_tool
from tools.errors import ArgumentsInvalid, ToolError
from tools.types import CallContext, ToolOutput

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
REPORTS_ALONE = replace(CONTEXT, scope=SearchFilter(collections=("reports",)))


def passages(output: ToolOutput) -> list[dict[str, Any]]:
    assert output.structured is not None
    return cast(list[dict[str, Any]], output.structured["passages"])


async def test_found_passages_carry_all_that_a_citation_needs() -> None:
    output = await search_documents_tool(Shelf(), Shelf()).function({"query": "container"}, CONTEXT)
    [passage, *_] = passages(output)
    assert passage == {
        "document_id": "doc-1",
        "chunk_id": "chunk-0",
        "source": "runbooks/limits.md",
        "title": "Limits",
        "section": "Limits > Kills",
        "page": 1,
        "char_start": 0,
        "char_end": 56,
        "text": TEXT[0:56],
    }
    assert output.text.startswith("[1] Limits, Kills, page 1 (document_id doc-1, from character 0)\n# Limits")


async def test_a_search_that_lost_a_step_says_so_to_the_model() -> None:
    shelf = Shelf(warnings=(SearchWarning("rerank_failed", "The reranker did not answer."),))
    output = await search_documents_tool(shelf, shelf).function({"query": "container"}, CONTEXT)
    assert output.text.endswith("\n\nWarning: The reranker did not answer.")


async def test_a_named_collection_alone_is_searched() -> None:
    shelf = Shelf()
    tool = search_documents_tool(shelf, shelf)
    await tool.function({"query": "limit", "collection": "handbook", "limit": 1}, CONTEXT)
    await tool.function({"query": "limit"}, CONTEXT)
    assert [scope.collections for scope in shelf.scopes] == [("handbook",), ()]


async def test_a_search_never_leaves_what_the_person_may_see() -> None:
    shelf = Shelf()
    tool = search_documents_tool(shelf, shelf)
    await tool.function({"query": "limit"}, REPORTS_ALONE)
    await tool.function({"query": "limit", "collection": "reports"}, REPORTS_ALONE)
    assert [scope.collections for scope in shelf.scopes] == [("reports",), ("reports",)]
    with pytest.raises(ToolError, match=r"no collection 'handbook'.*: reports\."):
        await tool.function({"query": "limit", "collection": "handbook"}, REPORTS_ALONE)


async def test_a_document_that_may_not_be_seen_reads_like_one_that_is_not_there() -> None:
    tool = read_document_tool(Shelf(), Shelf())
    refusals: list[str] = []
    for document_id in ("doc-1", "nowhere"):
        with pytest.raises(ToolError) as refused:
            await tool.function({"document_id": document_id}, REPORTS_ALONE)
        refusals.append(str(refused.value).replace(document_id, "ID"))
    assert refusals[0] == refusals[1]
    handbook = replace(CONTEXT, scope=SearchFilter(collections=("handbook",)))
    assert TEXT in (await tool.function({"document_id": "doc-1"}, handbook)).text


async def test_an_unknown_collection_is_answered_with_the_names_that_exist() -> None:
    with pytest.raises(ToolError, match="handbook, reports"):
        await search_documents_tool(Shelf(), Shelf()).function({"query": "x", "collection": "wiki"}, CONTEXT)


async def test_a_search_without_hits_says_so_and_has_no_passages() -> None:
    output = await search_documents_tool(Shelf(), Shelf()).function({"query": "zebra"}, CONTEXT)
    assert (output.text, passages(output)) == ("No passage fits 'zebra'; try other words.", [])


@pytest.mark.parametrize("query", ["", " ?! "])
async def test_a_query_without_a_word_is_refused(query: str) -> None:
    with pytest.raises(ToolError, match="say what to look for"):
        await search_documents_tool(Shelf(), Shelf()).function({"query": query}, CONTEXT)


async def test_a_store_that_is_down_is_one_sentence() -> None:
    broken = Shelf(broken=True)
    with pytest.raises(ToolError, match="The search failed"):
        await search_documents_tool(broken, broken).function({"query": "limit"}, CONTEXT)
    with pytest.raises(ToolError, match="cannot be read now"):
        await read_document_tool(broken, broken).function({"document_id": "doc-1"}, CONTEXT)


@pytest.mark.parametrize("limit", [0, MAX_HITS + 1, 2.5])
def test_the_schema_bounds_the_number_of_hits(limit: float) -> None:
    with pytest.raises(ArgumentsInvalid, match="'limit'"):
        validate_arguments(search_documents_tool(Shelf(), Shelf()).spec, {"query": "limit", "limit": limit})


@pytest.mark.parametrize(("start", "length"), [(0, 500), (10, 60), (45, 5), (50, 7000), (0, 1)])
async def test_read_passages_are_the_stored_text_each_character_once(start: int, length: int) -> None:
    output = await read_document_tool(Shelf(), Shelf()).function(
        {"document_id": "doc-1", "start": start, "length": length}, CONTEXT
    )
    found = passages(output)
    assert all(passage["text"] == TEXT[passage["char_start"] : passage["char_end"]] for passage in found)
    assert "".join(passage["text"] for passage in found) == TEXT[start : start + length]
    assert output.text.endswith(TEXT[start : start + length])


async def test_a_cut_reading_says_where_to_go_on() -> None:
    output = await read_document_tool(Shelf(), Shelf()).function({"document_id": "plain", "length": MAX_CHARS}, CONTEXT)
    assert output.text.startswith("notes.txt, characters 0 to 7000 of 10000; go on with start=7000\n")
    assert [(passage["chunk_id"], passage["char_end"]) for passage in passages(output)] == [("", 7000)]
    assert len(output.text) <= 8000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"document_id": "nowhere"}, "search_documents gives the ids"),
        ({"document_id": "failed"}, "search_documents gives the ids"),
        ({"document_id": "doc-1", "start": 5000}, f"has {len(TEXT)} characters"),
    ],
)
async def test_what_cannot_be_read_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await read_document_tool(Shelf(), Shelf()).function(arguments, CONTEXT)
