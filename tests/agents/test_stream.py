from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agents.answer import Answer
from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.errors import AgentError, ModelRefused, ModelTimeout, ModelUnavailable
from agents.events import (
    AnswerDone,
    ClaimsChecked,
    FailureKind,
    HitsFound,
    QueryRewritten,
    RunEvent,
    RunFailed,
    RunFinished,
    SearchWarned,
    Token,
    is_terminal,
)
from agents.proof_replay import prove_again
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from retrieval.errors import EmbeddingFailed, RetrievalError, StoreUnavailable
from retrieval.types import SearchWarning
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch

QUESTION = "What is the exit code when a container uses more memory than its limit?"
REPLY = (
    "The kernel stops it with exit code 137 and the reason OOMKilled [1]. The kubelet then restarts the container [4]."
)
TEXTS = (CONFIG_MAP, OOM, JOB)


def _request(question: str = QUESTION, history: tuple[ChatMessage, ...] = ()) -> AnswerRequest:
    return AnswerRequest(run_id="run-1", thread_id="thread-1", question=question, history=history)


async def _run(
    model: ScriptedChatModel,
    request: AnswerRequest | None = None,
    *,
    search: WordSearch | None = None,
    settings: AnswerSettings | None = None,
) -> list[RunEvent]:
    answerer = Answerer(retriever=search or WordSearch(TEXTS), chat_model=model, settings=settings or AnswerSettings())
    return [event async for event in answerer.run(request or _request())]


def _answer(events: list[RunEvent]) -> Answer:
    (done,) = [event for event in events if isinstance(event, AnswerDone)]
    return done.answer


async def test_events_of_an_answer_in_order() -> None:
    events = await _run(ScriptedChatModel([REPLY]))
    kinds = list(dict.fromkeys(event.type for event in events))
    assert kinds == ["run_started", "hits_found", "token", "claims_checked", "answer_done", "run_finished"]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {(event.run_id, event.thread_id) for event in events} == {("run-1", "thread-1")}
    assert [is_terminal(event) for event in events].count(True) == 1
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "answered"


async def test_answer_is_cited_by_the_server_not_by_the_model() -> None:
    answer = _answer(await _run(ScriptedChatModel([REPLY])))
    assert answer.answer == (
        "The kernel stops it with exit code 137 and the reason OOMKilled. [1] "
        "The kubelet then restarts the container. [2]"
    )
    assert [claim.verdict for claim in answer.claims] == ["verified", "verified"]
    assert {citation.source for citation in answer.citations} == {"/handbook/1.md"}
    for citation in answer.citations:
        assert OOM[citation.char_start : citation.char_end] == citation.quote
    assert answer.dropped_markers == 1
    assert (answer.status, answer.model, answer.run_id, answer.thread_id) == (
        "answered",
        "scripted",
        "run-1",
        "thread-1",
    )
    assert answer.usage.completion_tokens > 0
    assert answer.timings_ms.ttft is not None
    assert answer.timings_ms.total >= answer.timings_ms.ttft


async def test_tokens_show_the_reply_without_markers() -> None:
    events = await _run(ScriptedChatModel([REPLY]))
    shown = "".join(event.text for event in events if isinstance(event, Token))
    assert shown == REPLY.replace(" [1]", "").replace(" [4]", "")


async def test_prompt_holds_the_passages_as_data_and_the_question_last() -> None:
    model = ScriptedChatModel([REPLY])
    await _run(model)
    (prompt,) = model.prompts
    assert [message.role for message in prompt] == ["system", "user"]
    assert OOM in prompt[1].content
    assert OOM not in prompt[0].content
    assert model.samplings[0].max_tokens == AnswerSettings().max_tokens


async def test_hits_come_with_their_scores_and_the_filled_context() -> None:
    events = await _run(ScriptedChatModel([REPLY]))
    (found,) = [event for event in events if isinstance(event, HitsFound)]
    assert found.passages[0].text == OOM
    assert found.passages[0].dense_rank == 1
    assert found.context.used.evidence > 0
    assert found.context.used.reserve == AnswerSettings().max_tokens


async def test_weak_evidence_abstains_without_asking_the_model() -> None:
    model = ScriptedChatModel([REPLY])
    events = await _run(model, _request("Who won the 1998 football world cup?"))
    answer = _answer(events)
    assert answer.status == "abstained"
    assert answer.abstention is not None
    assert answer.abstention.reason == "weak_evidence"
    assert "football" in answer.abstention.searched
    assert answer.abstention.nearest
    assert answer.citations == ()
    assert model.prompts == []
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "abstained"


async def test_no_documents_abstains_and_says_how_to_add_some() -> None:
    answer = _answer(await _run(ScriptedChatModel([REPLY]), search=WordSearch(())))
    assert answer.abstention is not None
    assert answer.abstention.reason == "no_documents"
    assert "groundwork ingest" in answer.answer


@pytest.mark.parametrize("reply", ["NOT_FOUND", "NOT_FOUND.", " NOT_FOUND\n", "The passages do not mention this.", ""])
async def test_model_that_finds_nothing_abstains(reply: str) -> None:
    events = await _run(ScriptedChatModel([reply]))
    answer = _answer(events)
    assert (answer.status, answer.citations) == ("abstained", ())
    assert not any(isinstance(event, Token) and "NOT" in event.text for event in events)


UNPROVED = "The moon is made of cheese. It was found by cats [1]."


async def test_model_is_told_that_it_may_refuse_only_where_it_may() -> None:
    usual, may = ScriptedChatModel([REPLY]), ScriptedChatModel([REPLY])
    await _run(usual)
    await _run(may, settings=AnswerSettings(may_refuse=True))
    assert "NOT_FOUND" not in "".join(message.content for message in usual.prompts[0])
    assert may.prompts[0][-1].content.endswith("write only NOT_FOUND")
    assert may.prompts[0][:-1] == usual.prompts[0][:-1]


async def test_answer_without_any_support_is_withheld() -> None:
    answer = _answer(await _run(ScriptedChatModel([UNPROVED]), settings=AnswerSettings(quote_unproved=False)))
    assert answer.abstention is not None
    assert answer.abstention.reason == "unsupported_answer"
    assert "cheese" not in answer.answer


async def test_answer_without_any_support_gives_way_to_the_sentence_that_was_asked_for() -> None:
    answer = _answer(await _run(ScriptedChatModel([UNPROVED])))
    assert answer.status == "answered"
    assert [claim.verdict for claim in answer.claims] == ["verified"]
    assert "exit code 137" in answer.answer
    assert "cheese" not in answer.answer


async def test_strict_answers_are_withheld_with_their_first_unsupported_claim() -> None:
    reply = "The kubelet then restarts the container. The moon is made of cheese."
    answer = _answer(await _run(ScriptedChatModel([reply]), settings=AnswerSettings(unsupported="abstain")))
    assert answer.abstention is not None
    assert answer.abstention.reason == "unsupported_answer"


async def test_second_judge_lowers_a_verdict_and_is_kept_with_the_proof() -> None:
    model = ScriptedChatModel([REPLY, '["contradicts", "supports"]'])
    events = await _run(model, settings=AnswerSettings(judge="model"))
    (checked,) = [event for event in events if isinstance(event, ClaimsChecked)]
    assert [claim.verdict for claim in checked.claims] == ["unsupported", "verified"]
    assert checked.record is not None
    assert checked.record.opinions == ("contradicts", "supports")
    assert prove_again(checked.record).claims == checked.claims


@pytest.mark.parametrize("opinions", ["no", '["supports"]', '["supports", "supports", "supports"]', '{"a": 1}'])
async def test_judge_that_answers_something_else_changes_nothing(opinions: str) -> None:
    answer = _answer(await _run(ScriptedChatModel([REPLY, opinions]), settings=AnswerSettings(judge="model")))
    assert [claim.verdict for claim in answer.claims] == ["verified", "verified"]


async def test_unsupported_claim_is_marked_or_removed() -> None:
    reply = "The kubelet then restarts the container. The moon is made of cheese."
    marked = _answer(await _run(ScriptedChatModel([reply])))
    removed = _answer(await _run(ScriptedChatModel([reply]), settings=AnswerSettings(unsupported="remove")))
    assert marked.answer == "The kubelet then restarts the container. [1] The moon is made of cheese."
    assert removed.answer == "The kubelet then restarts the container. [1]"
    assert [claim.verdict for claim in removed.claims] == ["verified", "unsupported"]


async def test_claims_are_shown_before_the_answer() -> None:
    events = await _run(ScriptedChatModel([REPLY]))
    (checked,) = [event for event in events if isinstance(event, ClaimsChecked)]
    answer = _answer(events)
    assert (checked.claims, checked.citations, checked.dropped_markers) == (answer.claims, answer.citations, 1)


async def test_follow_up_is_searched_with_its_topic() -> None:
    history = (ChatMessage("user", QUESTION), ChatMessage("assistant", "137, see OOMKilled."))
    search, model = WordSearch(TEXTS), ScriptedChatModel([REPLY])
    events = await _run(model, _request("And what does the kubelet do with it?", history), search=search)
    (rewritten,) = [event for event in events if isinstance(event, QueryRewritten)]
    assert search.queries == [rewritten.query]
    assert "memory" in rewritten.query
    assert [message.role for message in model.prompts[0]] == ["system", "user", "assistant", "user"]


async def test_search_that_lost_a_step_answers_and_says_so_before_its_hits() -> None:
    search = WordSearch(TEXTS, warnings=(SearchWarning("rerank_failed", "The reranker does not answer."),))
    events = await _run(ScriptedChatModel([REPLY]), _request(), search=search)
    assert [event.detail for event in events if isinstance(event, SearchWarned)] == ["The reranker does not answer."]
    kinds = [type(event) for event in events]
    assert kinds.index(SearchWarned) < kinds.index(HitsFound)
    assert _answer(events).status == "answered"


async def test_reply_cut_by_the_limit_loses_its_last_half_sentence() -> None:
    request = AnswerRequest("r", "t", QUESTION, sampling=Sampling(max_tokens=13))
    answer = _answer(await _run(ScriptedChatModel([REPLY]), request))
    assert answer.answer == "The kernel stops it with exit code 137 and the reason OOMKilled. [1]"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelUnavailable("The model server does not answer; start it."), "model_unavailable"),
        (ModelTimeout("No token came within 60 s; try again."), "model_timeout"),
        (ModelRefused("The prompt is too long; shorten it."), "model_error"),
    ],
)
async def test_model_error_ends_the_run_with_its_sentence(error: AgentError, kind: FailureKind) -> None:
    events = await _run(ScriptedChatModel([error]))
    failed = events[-1]
    assert isinstance(failed, RunFailed)
    assert (failed.kind, failed.message) == (kind, str(error))
    assert [is_terminal(event) for event in events].count(True) == 1


@pytest.mark.parametrize(
    "error", [StoreUnavailable("The store is gone; start Qdrant."), EmbeddingFailed("No vectors.")]
)
async def test_search_error_ends_the_run_with_its_sentence(error: RetrievalError) -> None:
    events = await _run(ScriptedChatModel([REPLY]), search=WordSearch(TEXTS, error=error))
    failed = events[-1]
    assert isinstance(failed, RunFailed)
    assert (failed.kind, failed.message) == ("store_unavailable", str(error))


class _BrokenSearch(WordSearch):
    def search(self, *args: object, **options: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise ZeroDivisionError("secret detail")


async def test_unexpected_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    events = await _run(ScriptedChatModel([REPLY]), search=_BrokenSearch(TEXTS))
    failed = events[-1]
    assert isinstance(failed, RunFailed)
    assert failed.kind == "internal_error"
    assert "secret" not in failed.message
    assert any(record.exc_info for record in caplog.records)


class _WaitingModel(ScriptedChatModel):
    """Writes one word, then waits for ever."""

    def __init__(self) -> None:
        super().__init__(["unused"])
        self.closed = asyncio.Event()

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncIterator[ChatDelta]:
        try:
            yield ChatDelta(text="The kernel ")
            await asyncio.Event().wait()
        finally:
            self.closed.set()


async def test_cancelled_task_stops_the_model_and_yields_no_terminal_event() -> None:
    model, seen = _WaitingModel(), list[RunEvent]()
    has_token = asyncio.Event()

    async def consume() -> None:
        async for event in Answerer(retriever=WordSearch(TEXTS), chat_model=model, settings=AnswerSettings()).run(
            _request()
        ):
            seen.append(event)
            if isinstance(event, Token):
                has_token.set()

    task = asyncio.create_task(consume())
    await asyncio.wait_for(has_token.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(model.closed.wait(), 30)
    assert not any(is_terminal(event) for event in seen)


async def test_closed_generator_stops_the_model() -> None:
    model = _WaitingModel()
    events = Answerer(retriever=WordSearch(TEXTS), chat_model=model, settings=AnswerSettings()).run(_request())
    async for event in events:
        if isinstance(event, Token):
            break
    await events.aclose()
    await asyncio.wait_for(model.closed.wait(), 30)


async def test_runs_at_the_same_time_do_not_mix() -> None:
    answerer = Answerer(retriever=WordSearch(TEXTS), chat_model=ScriptedChatModel([REPLY]), settings=AnswerSettings())

    async def one(number: int) -> list[RunEvent]:
        request = AnswerRequest(f"run-{number}", f"thread-{number}", QUESTION)
        return [event async for event in answerer.run(request)]

    for number, events in enumerate(await asyncio.gather(*(one(number) for number in range(5)))):
        assert {event.run_id for event in events} == {f"run-{number}"}
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert _answer(events).status == "answered"
