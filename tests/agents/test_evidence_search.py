from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.answerability import SIGNS, LearnedDoubt
from agents.chat_model import ChatMessage
from agents.drafts import QueryDraft, WarningDraft
from agents.evidence_search import FoundEvidence, find_evidence
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.state import Context
from agents.testing import ScriptedChatModel
from agents.thresholds import load_thresholds
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.types import Chunk, SearchFilter, SearchResult, SearchWarning
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch

_ALL = SearchFilter()
HISTORY = (ChatMessage("user", "Tell me about eggs."), ChatMessage("assistant", "They are boiled."))
FULL = '{"query": "Which exit code does a container that uses more memory than its limit get?"}'


async def _find(
    question: str,
    *,
    history: Sequence[ChatMessage] = (),
    settings: AnswerSettings | None = None,
    model: ScriptedChatModel | None = None,
    search: WordSearch | None = None,
) -> tuple[FoundEvidence, list[QueryDraft]]:
    context = Context(
        search or WordSearch((CONFIG_MAP, OOM, JOB)),
        model or ScriptedChatModel(["{}"]),
        settings or AnswerSettings(),
        started=0.0,
    )
    said: list[QueryDraft | WarningDraft] = []
    request = AnswerRequest("run", "thread", question, history=tuple(history))
    found = await find_evidence(request, context, said.append)
    return found, [draft for draft in said if isinstance(draft, QueryDraft)]


async def test_question_for_two_things_is_searched_in_parts_and_each_query_is_told() -> None:
    search = WordSearch((CONFIG_MAP, OOM, JOB))
    found, said = await _find(
        "What is the exit code of a container over its memory limit, and what is the default of .spec.backoffLimit?",
        search=search,
    )
    assert [draft.kind for draft in said] == ["part", "part"]
    assert search.queries == [found.query, *(draft.query for draft in said)]
    assert {hit.chunk.text for hit in found.hits[:2]} == {OOM, JOB}


async def test_searches_of_one_turn_are_bounded() -> None:
    search = WordSearch((CONFIG_MAP,))
    await _find(
        "What is a Pod, what is a Job, and what is a Node?", settings=AnswerSettings(max_queries=2), search=search
    )
    assert len(search.queries) == 2


async def test_weak_evidence_is_looked_for_again_with_a_query_of_the_model() -> None:
    history = (ChatMessage("user", "My container uses more memory than its limit."), ChatMessage("assistant", "I see."))
    settings = AnswerSettings(rewrite="off")
    first, _ = await _find("Which exit code does that one get?", history=history, settings=settings)
    model = ScriptedChatModel([FULL])
    settings = AnswerSettings(rewrite="auto")
    question = "Which exit code does that one get afterwards normally nowadays?"
    found, said = await _find(question, history=(*HISTORY, *history), settings=settings, model=model)
    assert first.query == "Which exit code does that one get?"
    assert found.top_cosine is not None
    assert len(model.prompts) <= 1
    assert all(draft.kind in ("follow_up", "again") for draft in said)


async def test_model_writes_the_query_when_the_settings_say_so() -> None:
    history = (ChatMessage("user", "My container uses more memory than its limit."), ChatMessage("assistant", "I see."))
    model = ScriptedChatModel([FULL])
    found, said = await _find(
        "And which exit code does it get?", history=history, settings=AnswerSettings(rewrite="model"), model=model
    )
    assert found.query == "Which exit code does a container that uses more memory than its limit get?"
    assert [(draft.kind, draft.by) for draft in said] == [("follow_up", "model")]
    assert found.spent.completion_tokens > 0


async def test_rules_write_the_query_where_the_model_writes_something_else() -> None:
    history = (ChatMessage("user", "My container uses more memory than its limit."), ChatMessage("assistant", "I see."))
    found, said = await _find(
        "And which exit code does it get?",
        history=history,
        settings=AnswerSettings(rewrite="model"),
        model=ScriptedChatModel(['{"query": "137"}']),
    )
    assert "memory" in found.query
    assert [(draft.kind, draft.by) for draft in said] == [("follow_up", "rules")]


@dataclass
class _FiledSearch(WordSearch):
    """Passages of one collection; counts as a store does."""

    scopes: list[SearchFilter] = field(default_factory=list[SearchFilter])

    def search(
        self,
        query: str,
        *,
        search_filter: SearchFilter = _ALL,
        limit: int | None = None,
    ) -> SearchResult:
        self.scopes.append(search_filter)
        found = super().search(query, limit=limit)
        return found if self.count(search_filter) else replace(found, hits=())

    def count(self, search_filter: SearchFilter) -> int:
        return len(self.texts) if set(search_filter.collections) <= {"handbook"} else 0

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        return []


async def test_filter_in_the_words_of_a_question_narrows_the_search_and_is_told() -> None:
    search = _FiledSearch((CONFIG_MAP, OOM, JOB))
    context = Context(search, ScriptedChatModel(["{}"]), AnswerSettings(), started=0.0, store=search)
    said: list[QueryDraft | WarningDraft] = []
    question = "What exit code does a container over its memory limit get, in the handbook collection?"
    found = await find_evidence(AnswerRequest("run", "thread", question), context, said.append)
    assert said == [
        QueryDraft(
            "What exit code does a container over its memory limit get?",
            kind="filtered",
            filters=("collection=handbook",),
        )
    ]
    assert search.scopes[0].collections == ("handbook",)
    assert found.scope.collections == ("handbook",)


async def test_step_that_the_search_left_out_is_told_once() -> None:
    search = WordSearch((CONFIG_MAP, OOM, JOB), warnings=(SearchWarning("rerank_timeout", "It took longer than 2 s."),))
    context = Context(search, ScriptedChatModel(["{}"]), AnswerSettings(), started=0.0)
    said: list[QueryDraft | WarningDraft] = []
    question = "What is the exit code over the memory limit, and what is the default of .spec.backoffLimit?"
    await find_evidence(AnswerRequest("run", "thread", question), context, said.append)
    assert len(search.queries) > 1
    told = [draft for draft in said if isinstance(draft, WarningDraft)]
    assert told == [WarningDraft("rerank_timeout", "It took longer than 2 s.")]


async def test_learned_weights_decide_after_one_search(tmp_path: Path) -> None:
    weights = {**dict.fromkeys(SIGNS, 0.0), "first_coverage": -10.0}
    learned = LearnedDoubt(weights=weights, intercept=5.0, threshold=0.5)
    file = tmp_path / "own.json"
    file.write_text(load_thresholds().model_copy(update={"learned": learned}).model_dump_json(), encoding="utf-8")
    search = WordSearch((CONFIG_MAP, OOM, JOB))
    settings = AnswerSettings(abstention_file=file)
    context = Context(search, ScriptedChatModel([FULL]), settings, started=0.0, embedder=HashingEmbedder(dim=64))

    async def find(question: str) -> FoundEvidence:
        return await find_evidence(AnswerRequest("run", "thread", question, history=HISTORY), context, lambda _: None)

    known = await find("Which exit code does a container that uses more memory than its limit get?")
    unknown = await find("Who won the football world cup with a container?")
    assert known.doubt is not None
    assert known.doubt < 0.5
    assert unknown.doubt is not None
    assert unknown.doubt >= 0.5
    assert len(search.queries) == 2
    assert (await _find("Which exit code does a container get?"))[0].doubt is None
