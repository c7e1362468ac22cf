from __future__ import annotations

from datetime import UTC, datetime

from agents.events import ObjectPart, RunCancelled, RunEvent, RunFinished, RunStarted, Token
from ui.run_view import RunView, fold

AT = datetime(2026, 1, 5, tzinfo=UTC)


def _token(seq: int, text: str) -> RunEvent:
    return Token(run_id="r", thread_id="t", seq=seq, at=AT, text=text)


STARTED = RunStarted(run_id="r", thread_id="t", seq=1, at=AT, question="Why?", model="m")


def test_text_is_what_the_tokens_say_in_order() -> None:
    view = fold([STARTED, _token(2, "a"), _token(3, "b")])

    assert view == RunView(seq=3, stage="writing", text="ab", query="Why?")


def test_events_that_come_again_change_nothing() -> None:
    events = [STARTED, _token(2, "a"), _token(3, "b")]

    assert fold(events, fold(events)) == fold(events)


def test_going_on_behind_an_event_is_the_same_as_reading_all() -> None:
    events = [
        STARTED,
        _token(2, "a"),
        _token(3, "b"),
        RunFinished(run_id="r", thread_id="t", seq=4, at=AT, status="answered"),
    ]

    for cut in range(len(events) + 1):
        assert fold(events[cut:], fold(events[:cut])) == fold(events)
    assert fold(events).ended


def test_stopped_run_keeps_what_was_written() -> None:
    stopped = RunCancelled(run_id="r", thread_id="t", seq=3, at=AT, partial="a")

    assert fold([STARTED, _token(2, "a"), stopped]) == RunView(seq=3, stage="ended", text="a", query="Why?")


def test_object_is_shown_as_it_grows() -> None:
    parts = [
        ObjectPart(run_id="r", thread_id="t", seq=seq, at=AT, value={"reason": reason})
        for seq, reason in ((2, "OOM"), (3, "OOMKilled"))
    ]

    view = fold([STARTED, *parts])

    assert view.stage == "writing"
    assert view.text == '```json\n{\n  "reason": "OOMKilled"\n}\n```'
