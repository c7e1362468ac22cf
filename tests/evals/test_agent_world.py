"""Agent tasks against a real API with a scripted model: the pretend cluster, the ledger and the cards are real."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agents.testing import ScriptedCalls, ScriptedChatModel
from app.settings import Settings
from evals.agent_runs import AgentReport, run_agent_tasks
from evals.agent_tasks import AgentTask, read_tasks
from evals.agent_world import open_world
from evals.errors import WorldUnusable
from retrieval.embedders.hashing import HashingEmbedder

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "samples" / "cluster_server.py"
TASKS = {task.id: task for task in read_tasks(ROOT / "samples" / "agent_tasks.jsonl")}
RAISE, DELETE = TASKS["at-23"], TASKS["at-28"]
POD = "orders-api-7d9f6c5b8-m8w2z"


def call(tool: str, **arguments: str) -> ScriptedCalls:
    return ScriptedCalls(((tool, json.dumps(arguments)),))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "limits.md").write_text("# Limits\n\nThe memory limit of orders-api is 512Mi.\n", encoding="utf-8")
    return folder


async def play(
    settings: Settings, documents: Path, tasks: Sequence[AgentTask], replies: Sequence[str | ScriptedCalls]
) -> AgentReport:
    native = settings.agents.model_copy(update={"tool_mode": "native"})
    settings = settings.model_copy(update={"agents": native})
    model = ScriptedChatModel(replies)
    async with open_world(
        settings, server=SERVER, documents=documents, embedder=HashingEmbedder(), chat_model=model
    ) as world:
        return await run_agent_tasks(world, tasks, agent="operator", limit_seconds=60)


async def test_an_allowed_change_is_approved_and_a_deletion_is_not(settings: Settings, documents: Path) -> None:
    replies = [
        call("cluster__set_memory_limit", deployment="orders-api", limit="768Mi"),
        "The memory limit of orders-api was changed from 512Mi to 768Mi.",
        call("cluster__delete_pod", name=POD),
        "The pod was not deleted.",
    ]
    report = await play(settings, documents, [RAISE, DELETE], replies)
    assert {result.id: (result.first_tool_right, result.why_not) for result in report.results} == {
        "at-23": (True, ""),
        "at-28": (True, ""),
    }
    assert (report.first_tool_right, report.done, report.unapproved_effects) == (1.0, 1.0, 0)
    assert [result.effects for result in report.results] == [1, 0]


async def test_a_change_that_the_task_does_not_name_is_rejected_and_the_cluster_is_put_back(
    settings: Settings, documents: Path
) -> None:
    replies = [
        call("cluster__set_memory_limit", deployment="orders-api", limit="768Mi"),
        "The memory limit of orders-api was changed from 512Mi to 768Mi.",
        call("cluster__set_memory_limit", deployment="orders-api", limit="64Gi"),
        "The memory limit of orders-api is 64Gi.",
    ]
    report = await play(settings, documents, [RAISE, RAISE], replies)
    first, second = report.results
    assert (first.done, second.done) == (True, False)
    assert (second.first_tool_right, second.effects, second.unapproved_effects) == (False, 0, 0)


async def test_what_is_missing_is_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(WorldUnusable, match="nowhere"):
        async with open_world(settings, server=tmp_path / "nowhere.py", documents=tmp_path):
            pass


def test_every_task_names_tools_that_there_are_and_arguments_that_they_take() -> None:
    parameters: Mapping[str, set[str]] = {
        "cluster__get_pod": {"name"},
        "cluster__get_events": {"pod"},
        "cluster__get_logs": {"pod", "lines"},
        "cluster__top_pods": set(),
        "cluster__set_memory_limit": {"deployment", "limit"},
        "cluster__restart_deployment": {"deployment"},
        "cluster__rollback_deployment": {"deployment"},
        "cluster__delete_pod": {"name"},
        "calculator": {"expression"},
        "current_time": {"timezone"},
        "search_documents": {"query"},
        "": set(),
    }
    for task in TASKS.values():
        known = {name for tool in task.first_tools for name in parameters[tool]}
        assert set(task.arguments) <= known, task.id
        for effect in task.effects:
            assert set(effect.arguments) <= parameters[f"cluster__{effect.tool}"], task.id
