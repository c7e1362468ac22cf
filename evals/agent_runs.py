"""Plays agent tasks against the API, deciding what they ask for as their person would, and sums up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from pydantic import BaseModel

from agents.events import ApprovalNeeded, RunEvent
from app.approval_schema import DecisionRequest, SettlementRequest
from app.client import ApiClient
from app.errors import ApiProblem
from app.schema import RunRequest, ThreadCreate
from evals.agent_tasks import AgentTask, Played, TaskResult, judge, wanted_decision
from evals.agent_world import AgentWorld

REFUSAL = "Not wanted; do not try it again."


class KindReport(BaseModel):
    """Tasks of one kind."""

    tasks: int
    first_tool_right: int
    done: int


class AgentReport(BaseModel):
    """The JSON shape of ``eval agent --json``; shares are of all tasks."""

    model: str
    agent: str
    tasks: int
    first_tool_right: float
    done: float
    unapproved_effects: int
    seconds: float
    by_kind: dict[str, KindReport]
    results: list[TaskResult]


async def run_agent_tasks(
    world: AgentWorld,
    tasks: Sequence[AgentTask],
    *,
    agent: str,
    limit_seconds: float,
    on_result: Callable[[TaskResult], None] = lambda _: None,
) -> AgentReport:
    """Play every task in a thread of its own, with the cluster as it was at the start.

    Args:
        world: Where.
        tasks: Which.
        agent: Who acts.
        limit_seconds: Longest time of one task; its run is cancelled then.
        on_result: Told each result as it comes.
    """
    results: list[TaskResult] = []
    for task in tasks:
        world.cluster.reset()
        result = judge(task, await play(world, task, agent=agent, limit_seconds=limit_seconds))
        on_result(result)
        results.append(result)
    return sum_up(results, model=world.model, agent=agent)


async def play(world: AgentWorld, task: AgentTask, *, agent: str, limit_seconds: float) -> Played:
    """One task from its question to the end of its run."""
    api, events, approved = world.api, list[RunEvent](), set[str]()
    started = time.perf_counter()
    thread = await api.create_thread(ThreadCreate(title=task.id))
    run = await api.start_run(thread.thread_id, RunRequest(question=task.question, agent=agent))
    try:
        async with asyncio.timeout(limit_seconds), aclosing(api.events(run.run_id)) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, ApprovalNeeded) and await _decide(api, task, event):
                    approved.add(event.call_id)
    except TimeoutError:
        await api.cancel_run(run.run_id)
    seconds = time.perf_counter() - started
    return Played(events, world.cluster.changes(), world.cluster.state(), frozenset(approved), seconds)


def sum_up(results: Sequence[TaskResult], *, model: str, agent: str) -> AgentReport:
    """Figures over all results."""
    kinds = sorted({result.kind for result in results})
    count = max(1, len(results))
    return AgentReport(
        model=model,
        agent=agent,
        tasks=len(results),
        first_tool_right=round(sum(result.first_tool_right for result in results) / count, 4),
        done=round(sum(result.done for result in results) / count, 4),
        unapproved_effects=sum(result.unapproved_effects for result in results),
        seconds=round(sum(result.seconds for result in results), 1),
        by_kind={kind: _kind([result for result in results if result.kind == kind]) for kind in kinds},
        results=list(results),
    )


def _kind(results: Sequence[TaskResult]) -> KindReport:
    return KindReport(
        tasks=len(results),
        first_tool_right=sum(result.first_tool_right for result in results),
        done=sum(result.done for result in results),
    )


async def _decide(api: ApiClient, task: AgentTask, needed: ApprovalNeeded) -> bool:
    """Answer one card; True when the call was approved by this."""
    if needed.state == "unknown":
        await api.settle(needed.call_id, SettlementRequest(settlement="did_not_happen"))
        return False
    approval = (await api.approval(needed.call_id)).approval
    decision = wanted_decision(task, approval.tool, approval.arguments)
    reason = "" if decision == "approve" else REFUSAL
    request = DecisionRequest(decision=decision, seen_hash=needed.arguments_hash, reason=reason)
    try:
        await api.decide(needed.call_id, request)
    except ApiProblem as problem:
        if problem.problem.code != "approval_decided":  # an event that is told again after a break
            raise
        return False
    return decision == "approve"
