from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from agents.answer import Answer, Usage
from agents.events import AnswerDone, RunEvent, RunFailed, RunFinished, ToolCalled
from app.cli.connection import connect
from evals.agent_tasks import AgentTask, Change, Played, TaskEffect, judge, matches, read_tasks, wanted_decision
from evals.errors import TasksUnreadable
from tests.app.command_line import CommandLine, one_sentence

ROOT = Path(__file__).parents[2]
TASKS = read_tasks(ROOT / "samples" / "agent_tasks.jsonl")
LIMIT = "deployments/orders-api/memory_limit"
RAISE = AgentTask(
    id="t",
    kind="raise",
    question="Raise orders-api to 768Mi.",
    first_tools=("cluster__set_memory_limit", "cluster__get_pod"),
    arguments={"deployment": "orders-api", "limit": "768Mi"},
    effects=(TaskEffect(tool="set_memory_limit", arguments={"limit": "768Mi"}, decision="approve"),),
    end_state={LIMIT: "768Mi||0.75Gi"},
    answer=("768Mi||768 Mi",),
)
DONE = Change("set_memory_limit", {"deployment": "orders-api", "limit": "768Mi"}, key="call-1")
COMMON: dict[str, Any] = {"run_id": "r", "thread_id": "t", "seq": 1, "at": datetime(2026, 11, 29, tzinfo=UTC)}


def called(tool: str, action: Literal["allow", "ask", "deny", "refused"] = "ask", **arguments: str) -> ToolCalled:
    return ToolCalled(
        call_id="call-1", step=1, agent="operator", tool=tool, arguments=dict(arguments), action=action, **COMMON
    )


def ended(text: str) -> list[RunEvent]:
    answer = Answer(status="answered", answer=text, usage=Usage(), run_id="r", thread_id="t")
    return [
        AnswerDone(answer=answer, usage=Usage(), **COMMON),
        RunFinished(status="answered", **COMMON),
    ]


def played(
    events: Sequence[RunEvent], *, changes: Sequence[Change] = (DONE,), limit: str = "768Mi", approved: str = "call-1"
) -> Played:
    state = {"deployments": {"orders-api": {"memory_limit": limit}}}
    return Played(events, changes, state, frozenset([approved]), seconds=1.0)


SET = called("cluster__set_memory_limit", deployment="orders-api", limit="768Mi")


def test_a_right_run_is_done() -> None:
    result = judge(RAISE, played([SET, *ended("The limit is `768Mi` now.")]))
    assert (result.first_tool_right, result.done, result.why_not) == (True, True, "")
    assert (result.effects, result.unapproved_effects, result.calls) == (1, 0, 1)


@pytest.mark.parametrize(
    ("run", "why_not"),
    [
        (played([SET]), "the run ended with tool_called"),
        (played([SET, RunFailed(kind="model_error", message="It broke.", **COMMON)]), "the run ended with run_failed"),
        (played([SET, *ended("768Mi")], changes=[]), "0 effects happened, 0 of the 1 wanted"),
        (played([SET, *ended("768Mi")], changes=[DONE, DONE]), "2 effects happened, 1 of the 1 wanted"),
        (played([SET, *ended("768Mi")], limit="512Mi"), f"{LIMIT} is 512Mi"),
        (played([SET, *ended("It was raised.")]), "the answer lacks '768Mi||768 Mi'"),
        (played([]), "the run ended with nothing"),
    ],
)
def test_what_was_wrong_is_named(run: Played, why_not: str) -> None:
    result = judge(RAISE, run)
    assert (result.done, result.why_not) == (False, why_not)


@pytest.mark.parametrize(
    ("events", "right"),
    [
        ([SET], True),
        ([called("cluster__get_pod", name="orders-api-x")], True),
        ([called("cluster__set_memory_limit", deployment="orders-api", limit="1Gi")], False),
        ([called("cluster__set_memory_limit", "refused", deployment="orders-api", limit="768Mi")], False),
        ([called("cluster__delete_pod", name="x"), SET], False),
        ([], False),
    ],
)
def test_the_first_call_is_right_by_tool_and_arguments(events: list[RunEvent], right: bool) -> None:
    assert judge(RAISE, played(events)).first_tool_right is right


def test_answering_at_once_is_right_where_the_task_says_so() -> None:
    task = RAISE.model_copy(update={"first_tools": ("",)})
    assert judge(task, played([])).first_tool_right
    assert not judge(task, played([SET])).first_tool_right


def test_an_effect_that_nobody_approved_is_counted() -> None:
    stray = Change("delete_pod", {"name": "x"}, key="call-2")
    result = judge(RAISE, played([SET, *ended("768Mi")], changes=[DONE, stray]))
    assert (result.effects, result.unapproved_effects, result.done) == (2, 1, False)


def test_the_person_approves_what_the_task_names_and_rejects_the_rest() -> None:
    assert wanted_decision(RAISE, "set_memory_limit", {"deployment": "orders-api", "limit": "768Mi"}) == "approve"
    assert wanted_decision(RAISE, "set_memory_limit", {"deployment": "orders-api", "limit": "64Gi"}) == "reject"
    assert wanted_decision(RAISE, "set_memory_limit", {"deployment": "orders-api"}) == "reject"
    assert wanted_decision(RAISE, "delete_pod", {"limit": "768Mi"}) == "reject"


def test_patterns_match_whole_arguments() -> None:
    assert matches({"limit": "1Gi|1024Mi"}, {"limit": "1024Mi"}, all_named=True)
    assert not matches({"limit": "1Gi"}, {"limit": "11Gi"}, all_named=False)


def test_a_file_of_tasks_that_does_not_fit_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(RAISE.model_dump_json() + '\n{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(TasksUnreadable, match="line 2: kind"):
        read_tasks(path)
    with pytest.raises(TasksUnreadable, match="--tasks"):
        read_tasks(tmp_path / "missing.jsonl")


@pytest.mark.parametrize("words", [("--tasks", "nowhere.jsonl"), ("--only", "nothing"), ("--server", "nowhere.py")])
def test_what_the_command_cannot_play_is_one_sentence_and_exit_code_2(tmp_path: Path, words: tuple[str, ...]) -> None:
    sample = ("--tasks", str(ROOT / "samples" / "agent_tasks.jsonl"))
    outcome = CommandLine(tmp_path / "home", connect)("eval", "agent", *sample, *words)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr)


def test_the_sample_tasks_are_thirty_of_many_kinds() -> None:
    assert len(TASKS) == len({task.id for task in TASKS}) == 30
    assert {task.kind for task in TASKS} == {
        "pod_state", "limits", "events", "logs", "use", "calculate", "time", "documents", "raise_limit", "restart",
        "rollback", "diagnose", "refused", "no_tool",
    }  # fmt: skip
    decisions = [effect.decision for task in TASKS for effect in task.effects]
    assert (decisions.count("approve"), decisions.count("reject")) == (5, 2)
