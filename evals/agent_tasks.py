"""Tasks for an agent over the pretend cluster and the handbook: what a right run of each one is, and whether one was.

Pure: knows the events of a run and the state of the cluster; starts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.events import AnswerDone, RunEvent, RunFinished, ToolCalled
from evals.errors import TasksUnreadable

NO_TOOL = ""
"""Among ``first_tools``: the question may be answered without a call."""
ALTERNATIVES = "||"

ClusterState: TypeAlias = Mapping[str, Mapping[str, Mapping[str, JsonValue]]]
"""Rows by table and name, each a mapping of columns."""


class TaskEffect(BaseModel):
    """A call that changes something, and what the person at the screen says to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    """Name of the tool within its server."""
    arguments: dict[str, str]
    """Patterns by argument; all must match whole."""
    decision: Literal["approve", "reject"]


class AgentTask(BaseModel):
    """One line of ``samples/agent_tasks.jsonl``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    kind: str
    question: str
    first_tools: tuple[str, ...] = Field(min_length=1)
    """Wire names of right first calls; empty text for none."""
    arguments: dict[str, str]
    """Patterns by argument of the first call; one that the call does not name is not looked at."""
    effects: tuple[TaskEffect, ...]
    """Calls that the task needs; anything else that is asked for is rejected."""
    end_state: dict[str, str]
    """``table/name/column`` of the cluster after the task, alternatives parted by ``||``."""
    answer: tuple[str, ...]
    """Words that the answer must hold, alternatives parted by ``||``; case and code marks do not count."""


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the cluster's ``changes``: an effect that happened."""

    tool: str
    arguments: Mapping[str, JsonValue]
    key: str
    """Id of the call that caused it."""


@dataclass(frozen=True, slots=True)
class Played:
    """One run of a task, to its end."""

    events: Sequence[RunEvent]
    changes: Sequence[Change]
    state: ClusterState
    approved: frozenset[str]
    """Ids of calls that the person approved."""
    seconds: float


class TaskResult(BaseModel):
    """How one task went."""

    id: str
    kind: str
    first_tool: str
    first_tool_right: bool
    """Right first tool with valid, right arguments; or rightly none."""
    done: bool
    why_not: str
    """First thing that was wrong; empty when the task is done."""
    effects: int
    unapproved_effects: int
    """Effects in the cluster whose call nobody approved."""
    calls: int
    seconds: float
    answer: str


def read_tasks(path: Path) -> list[AgentTask]:
    """Tasks of a JSON-lines file.

    Raises:
        TasksUnreadable: The file is missing, or a line of it is no task; names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TasksUnreadable(f"{str(path)!r} cannot be read; give a file of tasks with --tasks.") from error
    tasks: list[AgentTask] = []
    for number, line in enumerate(lines, start=1):
        try:
            tasks.append(AgentTask.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise TasksUnreadable(f"{str(path)!r}, line {number}: {where or 'the line'}: {first['msg']}.") from error
    return tasks


def wanted_decision(task: AgentTask, tool: str, arguments: Mapping[str, JsonValue]) -> Literal["approve", "reject"]:
    """What the person says to a call: the task's word, and no to everything that it does not name."""
    for effect in task.effects:
        if effect.tool == tool and matches(effect.arguments, arguments, all_named=True):
            return effect.decision
    return "reject"


def judge(task: AgentTask, played: Played) -> TaskResult:
    """Hold one run against its task."""
    calls = [event for event in played.events if isinstance(event, ToolCalled)]
    answers = [event.answer.answer for event in played.events if isinstance(event, AnswerDone)]
    answer = answers[-1] if answers else ""
    why_not = _why_not(task, played, answer)
    return TaskResult(
        id=task.id,
        kind=task.kind,
        first_tool=calls[0].tool if calls else NO_TOOL,
        first_tool_right=_first_right(task, calls),
        done=not why_not,
        why_not=why_not,
        effects=len(played.changes),
        unapproved_effects=sum(1 for change in played.changes if change.key not in played.approved),
        calls=len(calls),
        seconds=round(played.seconds, 1),
        answer=answer,
    )


def matches(patterns: Mapping[str, str], arguments: Mapping[str, JsonValue], *, all_named: bool) -> bool:
    """Whether arguments match whole; with ``all_named`` each pattern needs its argument."""
    return all(
        re.fullmatch(pattern, str(arguments[name]), re.DOTALL) is not None if name in arguments else not all_named
        for name, pattern in patterns.items()
    )


def _first_right(task: AgentTask, calls: Sequence[ToolCalled]) -> bool:
    if not calls:
        return NO_TOOL in task.first_tools
    first = calls[0]
    named = first.tool in task.first_tools and first.action != "refused"
    return named and matches(task.arguments, first.arguments, all_named=False)


def _why_not(task: AgentTask, played: Played, answer: str) -> str:
    if not any(isinstance(event, RunFinished) for event in played.events):
        last = played.events[-1].type if played.events else "nothing"
        return f"the run ended with {last}"
    expected = [effect for effect in task.effects if effect.decision == "approve"]
    happened = [
        effect
        for effect in expected
        if any(change.tool == effect.tool and matches(effect.arguments, change.arguments, all_named=True)
               for change in played.changes)
    ]  # fmt: skip
    if len(happened) != len(expected) or len(played.changes) != len(expected):
        return f"{len(played.changes)} effects happened, {len(happened)} of the {len(expected)} wanted"
    for path, wanted in task.end_state.items():
        table, name, column = path.split("/")
        value = str(played.state.get(table, {}).get(name, {}).get(column))
        if value not in wanted.split(ALTERNATIVES):
            return f"{path} is {value}"
    missing = [words for words in task.answer if not _holds(answer, words)]
    return f"the answer lacks {missing[0]!r}" if missing else ""


def _holds(answer: str, alternatives: str) -> bool:
    bare = " ".join(answer.replace("`", "").replace("*", "").lower().split())
    return any(words.lower() in bare for words in alternatives.split(ALTERNATIVES))
