"""What the debug page shows is what the chat does: the preview and a run over the same parts agree."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from qdrant_client import QdrantClient

from agents.chat_model import ChatMessage
from agents.events import HitsFound, QueryRewritten
from agents.preview import Preview, preview
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.state import SearchedIndex
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.types import SearchFilter
from tests.contracts.stores import qdrant_home
from tests.retrieval.points import EMBEDDER, LEXICAL, make_points

TEXTS = (
    "A container that uses more memory than its limit is killed by the kernel.",
    "A container that uses more memory than its limit is killed by the kernel!",
    "The memory limit of a container is set in its manifest under resources.",
    "A failing liveness probe restarts the container.",
    "Certificates of the cluster are rotated every ninety days.",
)
HISTORY = (
    ChatMessage("user", "What happens to a container over its memory limit?"),
    ChatMessage("assistant", "It is killed by the kernel."),
)


@pytest.fixture
def retriever() -> Retriever:
    store = qdrant_home(QdrantClient(":memory:"), "chunks")()
    store.upsert(make_points(*TEXTS[:3], document="limits", collection="runbooks"))
    store.upsert(make_points(*TEXTS[3:], document="probes", collection="handbook"))
    return Retriever(embedder=EMBEDDER, store=store, lexical=LEXICAL, settings=SearchSettings())


@pytest.mark.parametrize(
    ("question", "history", "scope"),
    [
        ("What happens to a container over its memory limit?", (), SearchFilter()),
        ("Where is it set?", HISTORY, SearchFilter()),
        ("What restarts a container in the handbook collection?", (), SearchFilter()),
        ("What restarts a container?", (), SearchFilter(collections=("handbook",))),
        ("Who won the regatta?", (), SearchFilter()),
    ],
)
async def test_a_preview_is_what_a_run_does_up_to_the_model(
    retriever: Retriever, question: str, history: Sequence[ChatMessage], scope: SearchFilter
) -> None:
    settings = AnswerSettings(evidence_tokens=60)
    answerer = Answerer(
        retriever=retriever,
        chat_model=ScriptedChatModel(["It is killed by the kernel."]),
        settings=settings,
        index=SearchedIndex(retriever.store),
    )
    request = AnswerRequest("run", "thread", question, history=tuple(history), search_filter=scope)
    seen = await preview(request, answerer.context(request), retriever)
    events = [event async for event in answerer.run(request)]
    (found,) = [event for event in events if isinstance(event, HitsFound)]
    rewritten = [event.query for event in events if isinstance(event, QueryRewritten)]
    assert [hit.chunk.chunk_id for hit in seen.state.hits] == [passage.chunk_id for passage in found.passages]
    assert seen.state.query == found.query
    assert seen.state.report == found.context
    assert [draft.query for draft in seen.queries] == rewritten
    assert all(hit.explanation for hit in seen.state.hits)
    assert seen.main_search.explanation
    assert len(seen.tokens) == len(seen.state.passages)
    assert in_budget(seen, settings)


def in_budget(seen: Preview, settings: AnswerSettings) -> bool:
    return sum(seen.tokens) <= settings.evidence_tokens
