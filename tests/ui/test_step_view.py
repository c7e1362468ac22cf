from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from agents.events import (
    AnswerReviewed,
    ApprovalDecided,
    ApprovalNeeded,
    RunEvent,
    RunFinished,
    RunStarted,
    RunWaiting,
    StepStarted,
    Token,
    ToolCalled,
    ToolProgress,
    ToolReturned,
)
from ui.run_view import RunView, fold
from ui.step_view import calls_of

AT = datetime(2026, 1, 5, tzinfo=UTC)


def _events(*made: tuple[type[Any], dict[str, Any]]) -> list[RunEvent]:
    return [kind(run_id="r", thread_id="t", seq=seq, at=AT, **fields) for seq, (kind, fields) in enumerate(made, 1)]


CALL = {"call_id": "c1", "step": 1, "agent": "operator", "tool": "cluster__restart", "server": "cluster"}
ASKED = _events(
    (RunStarted, {"question": "Why?", "model": "m"}),
    (StepStarted, {"step": 1, "agent": "operator"}),
    (Token, {"text": "I will restart it.", "step": 1}),
    (ToolCalled, {**CALL, "risk": "write", "arguments": {"name": "api"}, "action": "ask", "reason": "writes ask"}),
    (ApprovalNeeded, {"call_id": "c1", "tool": "cluster__restart", "risk": "write", "arguments_hash": "0" * 64}),
    (RunWaiting, {"call_ids": ("c1",)}),
)


def _more(view: RunView, *made: tuple[type[Any], dict[str, Any]]) -> RunView:
    events = [
        kind(run_id="r", thread_id="t", seq=view.seq + 1 + place, at=AT, **fields)
        for place, (kind, fields) in enumerate(made)
    ]
    return fold(events, view)


def test_call_that_waits_stands_under_its_step_and_its_words_are_no_answer() -> None:
    view = fold(ASKED)

    (call,) = calls_of(view.steps)
    assert (view.stage, call.stage, call.risk, call.reason) == ("waiting", "waiting", "write", "writes ask")
    assert view.steps[0].text == "I will restart it."
    assert view.answer_text == ""


def test_decided_call_runs_tells_its_progress_and_returns() -> None:
    view = _more(
        fold(ASKED),
        (ApprovalDecided, {"call_id": "c1", "decision": "approve", "decided_by": "ada"}),
        (ToolProgress, {"call_id": "c1", "progress": 3, "total": 4, "message": "rolling"}),
    )
    (call,) = calls_of(view.steps)
    assert (call.stage, call.decision, call.decided_by, call.progress, call.remark) == (
        "running", "approve", "ada", 0.75, "rolling",
    )  # fmt: skip

    view = _more(view, (ToolReturned, {"call_id": "c1", "tool": "x", "state": "done", "text": "ok", "truncated": True}))

    (call,) = calls_of(view.steps)
    assert (call.stage, call.result, call.truncated) == ("done", "ok", True)


def test_words_of_a_last_step_without_calls_are_the_answer_so_far() -> None:
    view = _more(fold(ASKED), (StepStarted, {"step": 2, "agent": "operator"}), (Token, {"text": "Done.", "step": 2}))

    assert view.answer_text == "Done."


def test_step_that_begins_again_replaces_what_it_said() -> None:
    view = _more(
        fold(ASKED[:3]), (StepStarted, {"step": 1, "agent": "operator"}), (Token, {"text": "Anew.", "step": 1})
    )

    assert [step.text for step in view.steps] == ["Anew."]


def test_answer_that_was_sent_back_is_written_anew() -> None:
    view = fold(_events((RunStarted, {"question": "Why?", "model": "m"}), (Token, {"text": "Wrong."})))
    view = _more(view, (AnswerReviewed, {"reviewer": "reviewer", "approved": False, "remark": "Name the limit."}))
    assert (view.text, view.reviews[0].remark) == ("", "Name the limit.")

    view = _more(view, (Token, {"text": "Right."}), (AnswerReviewed, {"reviewer": "reviewer", "approved": True}))

    assert (view.text, [review.approved for review in view.reviews]) == ("Right.", [False, True])


def test_going_on_behind_an_event_is_the_same_as_reading_all() -> None:
    events = [*ASKED, RunFinished(run_id="r", thread_id="t", seq=len(ASKED) + 1, at=AT, status="answered")]

    for cut in range(len(events) + 1):
        assert fold(events[cut:], fold(events[:cut])) == fold(events)
