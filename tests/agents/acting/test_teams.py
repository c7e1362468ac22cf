"""More than one agent: supervisors and members, reviewers, and workflows with fixed steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.acting.config import AgentCatalog, catalog_from, read_catalog
from agents.chat_model import ToolOffer
from agents.errors import AgentsInvalid
from agents.events import AnswerReviewed, RunWaiting, StepStarted, ToolCalled, is_terminal
from agents.testing import ScriptedCalls, ScriptedChatModel
from tests.agents.acting.harness import Bench, answer_of, ask
from tools.builtin.review_text import review_text_tool

TEAM = """
[agents.lead]
description = "Leads."
tools = []
members = ["researcher", "fixer"]
documents = false

[agents.researcher]
description = "Looks things up."
tools = ["get_*"]

[agents.fixer]
description = "Changes things."
tools = ["set_*", "restart"]
"""

MAIL = """
[agents.desk]
description = "Answers requests by a fixed path."
documents = false

[[agents.desk.workflow]]
kind = "classify"
name = "topic"
labels = ["memory", "other"]

[[agents.desk.workflow]]
kind = "retrieve"
name = "found"
when = {topic = "memory"}

[[agents.desk.workflow]]
kind = "draft"
name = "draft"
instruction = "Write a reply about {topic}."

[[agents.desk.workflow]]
kind = "review"
name = "reviewed"
text = "{draft}"

[[agents.desk.workflow]]
kind = "send"
name = "sent"
tool = "restart"
arguments = {name = "{topic}-mailer"}
"""
DRAFT = "If a container uses more memory than its limit, the kernel stops it with exit code 137."


def catalog(text: str, tmp_path: Path) -> AgentCatalog:
    path = tmp_path / "agents.toml"
    path.write_text(text, encoding="utf-8")
    return read_catalog(path)


def calls(*asked: tuple[str, str]) -> ScriptedCalls:
    return ScriptedCalls(asked)


def names(offer: ToolOffer | None) -> set[str]:
    return {tool.name for tool in offer.tools} if offer else set()


async def test_a_supervisor_hands_work_to_members_that_have_their_own_tools(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    model = ScriptedChatModel(
        [
            calls(("hand_to_researcher", '{"task": "State of orders-api?"}')),
            calls(("get_pod", '{"name": "orders-api"}')),
            "The last termination reason of orders-api is OOMKilled.",
            calls(("hand_to_fixer", '{"task": "Raise the limit of orders-api to 1Gi."}')),
            calls(("set_memory_limit", '{"name": "orders-api", "limit": "1Gi"}')),
            "The memory limit of orders-api was set to 1Gi.",
            "The memory limit of orders-api was set to 1Gi, for its last termination reason was OOMKilled.",
        ]
    )
    bench = Bench(engine, model, catalog=catalog(TEAM, tmp_path))
    first = await bench.attempt(ask(agent="lead"))
    assert isinstance(first[-1], RunWaiting)
    (call,) = await bench.waiting()
    await bench.decide(call)
    await bench.attempt(ask(agent="lead"))
    assert bench.cluster.effects == ["limit orders-api 1Gi"]
    steps = [event.agent for event in bench.events if isinstance(event, StepStarted)]
    assert steps == ["lead", "researcher", "researcher", "lead", "fixer", "fixer", "lead"]
    assert names(model.offers[0]) == {"hand_to_researcher", "hand_to_fixer"}
    assert names(model.offers[1]) == {"get_pod"}
    assert names(model.offers[4]) == {"set_memory_limit", "restart"}
    assert answer_of(bench.events).status == "answered"
    assert {citation.call_id for citation in answer_of(bench.events).citations} - {""}


async def test_a_member_cannot_call_what_is_not_its_own(engine: AsyncEngine, tmp_path: Path) -> None:
    model = ScriptedChatModel(
        [
            calls(("hand_to_researcher", '{"task": "Raise the limit."}')),
            calls(("set_memory_limit", '{"name": "orders-api", "limit": "1Gi"}')),
            "I cannot change limits.",
            "It was not changed.",
        ]
    )
    bench = Bench(engine, model, catalog=catalog(TEAM, tmp_path))
    events = await bench.attempt(ask(agent="lead"))
    assert is_terminal(events[-1])
    refused = [event for event in events if isinstance(event, ToolCalled)]
    assert [event.action for event in refused] == ["refused"]
    assert "not one of yours" in refused[0].reason
    assert await bench.ledger.find() == []


async def test_members_report_where_the_model_must_choose(engine: AsyncEngine, tmp_path: Path) -> None:
    model = ScriptedChatModel(
        [
            calls(("hand_to_researcher", '{"task": "State of orders-api?"}')),
            calls(("get_pod", '{"name": "orders-api"}')),
            calls(("report", '{"findings": "It was OOMKilled."}')),
            calls(("answer", "{}")),
            "The last termination reason is OOMKilled.",
        ]
    )
    bench = Bench(engine, model, catalog=catalog(TEAM, tmp_path), mode="constrained")
    events = await bench.attempt(ask(agent="lead"))
    assert is_terminal(events[-1])
    assert "report" in names(model.offers[1])
    assert "answer" not in names(model.offers[1])
    assert any("It was OOMKilled." in message.content for message in model.prompts[3])


async def test_words_of_a_member_are_not_the_answer_of_its_supervisor(engine: AsyncEngine, tmp_path: Path) -> None:
    lead = 'description = "Leads."\n'
    mixed = TEAM.replace(lead, lead + 'tool_mode = "constrained"\n')
    model = ScriptedChatModel(
        [
            calls(("hand_to_researcher", '{"task": "State of orders-api?"}')),
            calls(("get_pod", '{"name": "orders-api"}')),
            "A note of the researcher.",
            calls(("answer", "{}")),
            "The last termination reason of orders-api is OOMKilled.",
        ]
    )
    bench = Bench(engine, model, catalog=catalog(mixed, tmp_path))
    events = await bench.attempt(ask(agent="lead"))
    assert "OOMKilled" in answer_of(events).answer
    assert "note of the researcher" not in answer_of(events).answer


async def test_a_reviewer_sends_an_answer_back_once(engine: AsyncEngine, tmp_path: Path) -> None:
    text = """
[agents.careful]
description = "Answers with care."
reviewer = "reader"

[agents.reader]
description = "Reads answers."
"""
    model = ScriptedChatModel(
        [
            "The kernel stops it with exit code 9.",
            calls(("revise", '{"instruction": "Give the exit code of the passage."}')),
            "The kernel stops it with exit code 137.",
        ]
    )
    bench = Bench(engine, model, catalog=catalog(text, tmp_path))
    question = "With what exit code does the kernel stop a container that uses more memory than its limit?"
    events = await bench.attempt(ask(question, agent="careful"))
    (reviewed,) = [event for event in events if isinstance(event, AnswerReviewed)]
    assert (reviewed.approved, reviewed.reviewer) == (False, "reader")
    assert "137" in answer_of(events).answer
    assert "Give the exit code of the passage." in model.prompts[2][-1].content


async def test_a_workflow_goes_through_its_steps_and_a_person(engine: AsyncEngine, tmp_path: Path) -> None:
    model = ScriptedChatModel([calls(("choose", '{"label": "memory"}')), DRAFT])
    bench = Bench(engine, model, extra=[review_text_tool()], catalog=catalog(MAIL, tmp_path))
    first = await bench.attempt(ask("Why was it killed?", agent="desk"))
    assert isinstance(first[-1], RunWaiting)
    (review,) = await bench.waiting()
    assert (review.tool, review.arguments) == ("review_text", {"text": DRAFT})
    await bench.decide(review, "edit", arguments={"text": "The kernel stops it with exit code 137."})
    await bench.attempt(ask("Why was it killed?", agent="desk"))
    (send,) = await bench.waiting()
    assert (send.tool, send.arguments) == ("restart", {"name": "memory-mailer"})
    await bench.decide(send)
    last = await bench.attempt(ask("Why was it killed?", agent="desk"))
    assert is_terminal(last[-1])
    assert bench.cluster.effects == ["restart memory-mailer"]
    assert "exit code 137" in answer_of(last).answer


async def test_a_rejected_review_ends_the_workflow(engine: AsyncEngine, tmp_path: Path) -> None:
    model = ScriptedChatModel([calls(("choose", '{"label": "other"}')), DRAFT])
    bench = Bench(engine, model, extra=[review_text_tool()], catalog=catalog(MAIL, tmp_path))
    await bench.attempt(ask("Why was it killed?", agent="desk"))
    (review,) = await bench.waiting()
    await bench.decide(review, "reject", reason="wrong tone")
    last = await bench.attempt(ask("Why was it killed?", agent="desk"))
    assert is_terminal(last[-1])
    assert bench.cluster.effects == []


async def test_no_model_is_offered_the_review_tool(engine: AsyncEngine) -> None:
    model = ScriptedChatModel(["The kernel stops it with exit code 137."])
    bench = Bench(engine, model, extra=[review_text_tool()])
    await bench.attempt()
    assert "review_text" not in names(model.offers[0])


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"agents": {"a": {"description": "x", "members": ["b"]}}}, "'b', which is not declared"),
        ({"agents": {"a": {"description": "x", "reviewer": "a"}}}, "names itself"),
        ({"agents": {"a": {"description": "x", "colour": "red"}}}, "agents.a.colour"),
        ({"agents": {"a": {}}}, "agents.a.description"),
        ({"agenst": {}}, "agents"),
    ],
)
def test_a_declaration_that_does_not_fit_is_told_in_words(document: dict[str, object], sentence: str) -> None:
    with pytest.raises(AgentsInvalid, match=sentence):
        catalog_from(document, where="agents.toml")


def test_no_file_declares_the_operator(tmp_path: Path) -> None:
    assert list(read_catalog(tmp_path / "agents.toml").agents) == ["operator"]


def test_a_file_that_is_no_toml_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(AgentsInvalid, match="cannot be read as TOML"):
        catalog("[agents", tmp_path)
