"""The pages around agents: the inbox, tools, grants and memory, in Streamlit's own test harness."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app.approval_schema import GrantInfo
from app.schema import ThreadInfo
from tests.ui.harness import Start, has_button, html, press, words
from tests.ui.stub_api import NOW, StubState
from tests.ui.stub_calls import AT, question, server_info, tool_info
from tools.facts import Fact


def _open(start: Start, page: str) -> AppTest:
    app = start().run().switch_page(f"views/{page}.py").run()
    assert not app.exception
    return app


def test_inbox_shows_what_waits_in_every_chat(start: Start, state: StubState) -> None:
    state.threads["thread-7"] = ThreadInfo(thread_id="thread-7", title="Limits", created_at=NOW, updated_at=NOW, runs=1)
    state.calls.propose("one", run_id="run-7", thread_id="thread-7")
    state.calls.propose("two", run_id="run-8", thread_id="thread-8", state="unknown", attempt=1)

    app = _open(start, "approvals")

    assert has_button(app, "Approve once")
    assert has_button(app, "It happened")
    assert [link.proto.label for link in app.get("page_link")] == ["Limits", "Chat without a title"]


def test_call_is_decided_in_the_inbox(start: Start, state: StubState) -> None:
    state.calls.propose("one")
    app = _open(start, "approvals")

    app.button(key="approve-one").click().run()

    assert [call_id for call_id, _ in state.calls.decisions] == ["one"]
    assert "Approved: set_memory_limit." in words(app)
    assert "Nothing waits for you" in words(app)


def test_empty_inbox_says_so(start: Start) -> None:
    assert "Nothing waits for you" in words(_open(start, "approvals"))


def test_question_of_a_server_is_a_form_that_is_sent_when_it_is_filled_in(start: Start, state: StubState) -> None:
    state.calls.questions = [question()]
    app = _open(start, "approvals")
    assert "Which node shall be emptied?" in html(app)

    press(app, "Send")
    assert "Fill in: Node, reason." in words(app)
    app.text_input(key="q1-node").set_value("n1")
    app.selectbox(key="q1-reason").set_value("upgrade")
    press(app, "Send")

    assert [(answer.action, answer.content) for answer in state.calls.answers] == [
        ("accept", {"node": "n1", "minutes": 5, "force": False, "reason": "upgrade"})
    ]
    assert "Nothing waits for you" in words(app)


def test_question_to_open_an_address_shows_all_of_it_and_may_be_declined(start: Start, state: StubState) -> None:
    state.calls.questions = [question(mode="url", url="https://login.example.org/device?code=1")]
    app = _open(start, "approvals")
    assert app.code[0].value == "https://login.example.org/device?code=1"

    app.button(key="decline-q1").click().run()

    assert [answer.action for answer in state.calls.answers] == ["decline"]


def test_question_that_was_answered_elsewhere_says_so(start: Start, state: StubState) -> None:
    state.calls.questions = [question(mode="url", url="https://login.example.org")]
    app = _open(start, "approvals")
    asked, state.calls.questions = state.calls.questions, []

    app.button(key="done-q1").click().run()
    state.calls.questions = asked
    app.run()

    assert "answered already" in words(app)


def test_servers_are_shown_with_their_health_and_restarted(start: Start, state: StubState) -> None:
    state.calls.servers = [
        server_info("cluster", "ready"),
        server_info("github", "broken", detail="It ended with exit code 1", failures=3),
    ]
    app = _open(start, "tools")
    assert "does not answer" in words(app)
    assert "It ended with exit code 1. Failed 3 times." in words(app)

    app.button(key="restart-github").click().run()

    assert state.calls.restarts == ["github"]
    assert "github answers." in words(app)


def test_new_tool_is_let_in_and_a_changed_one_shows_what_differs(start: Start, state: StubState) -> None:
    changed = tool_info("scale", "changed", reviewed_by="ada", reviewed_at=AT)
    before = {**changed.definition, "description": "Scales."}
    state.calls.tools = [
        tool_info("delete_pod", "needs_review", risk="destructive"),
        changed.model_copy(update={"reviewed_definition": before}),
    ]
    app = _open(start, "tools")
    assert "What differs from the definition that ada let in" in words(app)
    assert '<span class="removed">-  &quot;description&quot;: &quot;Scales.&quot;,' in html(app)

    app.button(key="accept-cluster__delete_pod").click().run()
    app.button(key="refuse-cluster__scale").click().run()

    assert [tool.state for tool in state.calls.tools] == ["offered", "disabled"]


def test_reviewed_tool_is_switched_off_and_on(start: Start, state: StubState) -> None:
    state.calls.tools = [tool_info("get_pod", "offered", risk="read", reviewed_by="ada", reviewed_at=AT)]
    app = _open(start, "tools")

    press(app, "Switch off")
    assert state.calls.tools[0].state == "disabled"
    press(app, "Switch on")

    assert state.calls.tools[0].state == "offered"


def test_grant_is_taken_back(start: Start, state: StubState) -> None:
    state.calls.grants = [
        GrantInfo(
            grant_id="g1", scope="arguments", server="cluster", tool="set_memory_limit", thread_id="",
            arguments={"name": "orders-*"}, granted_by="ada", granted_at=AT, call_id="",
        )
    ]  # fmt: skip
    app = _open(start, "tools")
    app.session_state["tools-tabs"] = "Grants"
    app.run()
    assert "in every chat" in words(app)

    app.button(key="revoke-g1").click().run()

    assert state.calls.grants == []


def test_audit_trail_is_shown_latest_first_and_can_be_downloaded(start: Start, state: StubState) -> None:
    state.calls.propose("one")
    state.calls.propose("two")
    app = _open(start, "tools")

    app.session_state["tools-tabs"] = "Audit"
    app.run()

    assert app.dataframe[0].value["call"].tolist() == ["two", "one"]
    assert len(app.get("download_button")) == 1


def test_fact_is_added_edited_pinned_and_forgotten(start: Start, state: StubState) -> None:
    app = _open(start, "memory")
    assert "Nothing is remembered." in words(app)

    app.text_input(key="new-fact").set_value("I like short answers.")
    press(app, "Add")
    assert "I like short answers." in words(app)
    app.button(key="edit-fact-1").click().run()
    app.text_area(key="text-fact-1").set_value("I like long answers.")
    press(app, "Save")
    app.button(key="pin-fact-1").click().run()
    assert state.calls.facts["fact-1"] == Fact(
        fact_id="fact-1", text="I like long answers.", pinned=True, created_at=AT, updated_at=AT
    )

    app.button(key="forget-fact-1").click().run()

    assert state.calls.facts == {}
