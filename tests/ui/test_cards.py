"""Steps, cards and decisions in the chat, in Streamlit's own test harness."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests.ui.harness import Start, has_button, html, press, wait_for, words
from tests.ui.stub_api import StubState

QUESTION = "Why did orders-api restart? Raise its limit."
CALL = "run-1-call"


def _asked(start: Start, state: StubState) -> AppTest:
    """A chat whose agent has asked to raise a limit."""
    app = start().run()
    app.button_group(key="agent--0").set_value("operator").run()
    app.chat_input[0].set_value(QUESTION).run()
    return wait_for(app, state, run_state="waiting")


def _more(app: AppTest, choice: str) -> AppTest:
    return app.button_group(key=f"more-{CALL}").set_value(choice).run()


def test_plain_question_goes_to_no_agent(start: Start, state: StubState) -> None:
    app = start().run()
    app.chat_input[0].set_value("Why did my pod restart?").run()

    assert state.questions[-1].agent == ""


def test_steps_are_drawn_under_their_agent_with_a_line_for_each_call(start: Start, state: StubState) -> None:
    app = _asked(start, state)

    assert not app.exception
    assert state.questions[-1].agent == "operator"
    assert ":material/smart_toy: **operator**" in words(app)
    (read,) = app.status
    assert (read.state, "**get" in read.label, ":green-badge" in read.label) == ("complete", True, True)
    assert "OOMKilled" in html(app)
    assert "First the pod." in html(app)
    assert "waits for a decision" in app.expander[-1].label


def test_card_shows_what_would_run_why_it_asks_and_how_long(start: Start, state: StubState) -> None:
    app = _asked(start, state)

    shown = words(app)
    assert "May this run?" in shown
    assert "It changes something. Why it asks: no policy line matches" in shown
    assert "**operator** asks because of:" in shown
    assert "expires in 29 min" in shown
    assert '<th scope="row">limit</th><td>768Mi</td>' in html(app)


def test_card_names_the_text_that_may_have_led_to_the_call(start: Start, state: StubState) -> None:
    state.calls.propose("tainted", run_id="run-1", taint_source="document runbook.md")

    app = _asked(start, state)

    assert "from document runbook.md" in words(app)


def test_approved_call_runs_once_and_the_answer_follows(start: Start, state: StubState) -> None:
    app = _asked(start, state)

    app.button(key=f"approve-{CALL}").click().run()
    wait_for(app, state, run_state="answered")

    ((call_id, decision),) = state.calls.decisions
    assert (call_id, decision.decision, decision.grant, decision.seen_hash) == (CALL, "approve", "none", "0" * 64)
    assert not has_button(app, "Approve once")
    assert "Approved by local." in words(app)
    assert "The limit is 768Mi." in html(app)
    assert "2 verified" in words(app)


def test_approve_for_this_chat_gives_a_grant_with_the_decision(start: Start, state: StubState) -> None:
    app = _asked(start, state)

    app.button(key=f"approve-chat-{CALL}").click().run()

    assert state.calls.decisions[0][1].grant == "chat"


def test_pattern_is_sent_for_the_arguments_that_are_filled_in(start: Start, state: StubState) -> None:
    app = _more(_asked(start, state), "Allow a pattern")
    assert app.text_input(key=f"pattern-{CALL}-name").value == "orders-api"

    app.text_input(key=f"pattern-{CALL}-name").set_value("orders-*")
    app.text_input(key=f"pattern-{CALL}-limit").set_value("")
    press(app, "Approve this pattern")

    decision = state.calls.decisions[0][1]
    assert (decision.grant, decision.patterns) == ("arguments", {"name": "orders-*"})


def test_edited_arguments_that_are_wrong_are_refused_beside_the_editor(start: Start, state: StubState) -> None:
    app = _more(_asked(start, state), "Edit")
    assert json.loads(app.text_area(key=f"edit-{CALL}").value or "") == {"name": "orders-api", "limit": "768Mi"}

    app.text_area(key=f"edit-{CALL}").set_value('{"name": ')
    press(app, "Approve edited")
    assert "This is no JSON" in app.error[0].value
    app.text_area(key=f"edit-{CALL}").set_value('{"name": "orders-api", "limit": 768}')
    press(app, "Approve edited")
    assert "not of type" in app.error[0].value
    assert state.calls.decisions == []

    app.text_area(key=f"edit-{CALL}").set_value('{"name": "orders-api", "limit": "1Gi"}')
    press(app, "Approve edited")

    assert state.calls.decisions[0][1].arguments == {"name": "orders-api", "limit": "1Gi"}


def test_rejection_with_a_reason_tells_the_agent(start: Start, state: StubState) -> None:
    app = _more(_asked(start, state), "Reject with reason")

    app.text_input(key=f"reason-{CALL}").set_value("Ask the owner first")
    app.button(key=f"FormSubmitter:reason-{CALL}-form-Reject").click().run()

    assert [(made.decision, made.reason) for _, made in state.calls.decisions] == [("reject", "Ask the owner first")]
    assert "Rejected by local: Ask the owner first." in words(wait_for(app, state, run_state="answered"))


def test_answer_in_the_tools_place_is_sent_as_its_result(start: Start, state: StubState) -> None:
    app = _more(_asked(start, state), "Answer instead")

    app.text_area(key=f"respond-{CALL}").set_value("It is 1Gi already.")
    app.button(key=f"FormSubmitter:respond-{CALL}-form-Answer instead").click().run()

    assert (state.calls.decisions[0][1].decision, state.calls.decisions[0][1].reason) == (
        "respond",
        "It is 1Gi already.",
    )


def test_decision_that_came_too_late_says_whose_was_first(start: Start, state: StubState) -> None:
    app = _asked(start, state)
    call = state.calls.calls[CALL]
    state.calls.calls[CALL] = call.model_copy(update={"decision": "reject", "decided_by": "ada"})

    app.button(key=f"approve-{CALL}").click().run()

    assert "The call was decided before: reject by ada." in words(app)
    assert not has_button(app, "Approve once")
    assert state.calls.decisions == []


def test_destructive_call_is_asked_about_once_more_and_never_granted(start: Start, state: StubState) -> None:
    app = _asked(start, state)
    state.calls.propose("gone", run_id="run-1", tool="delete_pod", risk="destructive")
    app.run()
    assert not any(button.key == "approve-chat-gone" for button in app.button)

    app.button(key="approve-gone").click().run()
    assert state.calls.decisions == []
    app.button(key="confirm-gone").click().run()

    assert [call_id for call_id, _ in state.calls.decisions] == ["gone"]


def test_unknown_outcome_is_settled_by_a_person(start: Start, state: StubState) -> None:
    app = _asked(start, state)
    state.calls.propose("lost", run_id="run-1", state="unknown", attempt=1)
    app.run()
    assert "its runner died before the result was kept" in words(app)

    app.text_input(key="note-lost").set_value("Seen in the log")
    app.button(key="settle-happened-lost").click().run()

    ((call_id, settlement),) = state.calls.settlements
    assert (call_id, settlement.settlement, settlement.note) == ("lost", "happened", "Seen in the log")


def test_several_calls_are_decided_one_by_one_or_rejected_together(start: Start, state: StubState) -> None:
    app = _asked(start, state)
    state.calls.propose("second", run_id="run-1")
    app.run()

    press(app, "Reject all 2")

    assert not any(call.waiting for call in state.calls.calls.values())


def test_message_while_a_call_waits_is_held_until_the_person_says_so(start: Start, state: StubState) -> None:
    app = _asked(start, state)
    assert app.chat_input[0].placeholder == "1 call waits for you; a message rejects what waits"

    app.chat_input[0].set_value("Never mind").run()
    assert len(state.questions) == 1
    app.button(key="keep-waiting").click().run()
    assert len(state.questions) == 1
    assert has_button(app, "Approve once")

    app.chat_input[0].set_value("Never mind").run()
    app.button(key="reject-and-send").click().run()

    assert [question.question for question in state.questions] == [QUESTION, "Never mind"]
    assert not state.calls.calls[CALL].waiting


def test_second_session_shows_the_card_and_decides_it(start: Start, state: StubState) -> None:
    _asked(start, state)

    other = start()
    other.query_params["thread"] = "thread-1"
    other.run()
    other.button(key=f"approve-{CALL}").click().run()

    assert [call_id for call_id, _ in state.calls.decisions] == [CALL]
    assert other.button_group(key="agent-thread-1-1").value == "operator"


def test_stopped_run_takes_its_card_away(start: Start, state: StubState) -> None:
    app = _asked(start, state)

    press(app, "Stop")
    app.run()

    assert state.cancels == ["run-1"]
    assert "Stopped before it was finished" in words(app)
