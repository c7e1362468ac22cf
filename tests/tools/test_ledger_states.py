"""Any sequence of what people, runners, the clock and the platform may do to calls keeps the ledger's promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Literal, TypeAlias

import pytest
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

from tests.tools.conftest import Clock
from tests.tools.samples import pending_call
from tools.calls import AuditEntry, CallState, DecisionKind, Settlement, ToolCall
from tools.errors import ArgumentsChanged, DecisionConflict
from tools.fingerprint import arguments_hash
from tools.ledger import MAX_UNASKED_ATTEMPTS, ExecutionLedger
from tools.tables import METADATA
from tools.types import Arguments, ToolOutput

Kind: TypeAlias = Literal["decide", "start", "finish", "lose", "release", "settle", "supersede", "wait", "expire"]

# More of what leads on than of what ends a call: sequences that end everything at once see little.
KINDS: tuple[Kind, ...] = ("decide", "start", "lose", "settle") * 3 + (
    "release",
    "finish",
    "supersede",
    "wait",
    "expire",
)
DECISIONS: tuple[DecisionKind, ...] = ("approve", "edit") * 6 + ("reject", "respond")
SETTLEMENTS: tuple[Settlement, ...] = ("try_again",) * 6 + ("happened", "did_not_happen")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody tries; which fields count depends on the kind."""

    kind: Kind
    call_id: str
    runner: str
    actor: str
    decision: DecisionKind
    settlement: Settlement
    saw_current: bool
    minutes: int


@dataclass(frozen=True, slots=True)
class Start:
    """How a call comes into the ledger."""

    retryable: bool
    expires: bool


STEPS = 80


def any_step(random: Random, calls: Sequence[str]) -> Step:
    """Uniform over everything: a sequence is only worth its steps if most of them could matter."""
    return Step(
        kind=random.choice(KINDS),
        call_id=random.choice(calls),
        runner=random.choice(["runner-1", "runner-1", "runner-2"]),
        actor=random.choice(["ana", "bo", "policy"]),
        decision=random.choice(DECISIONS),
        settlement=random.choice(SETTLEMENTS),
        saw_current=random.random() < 0.75,
        minutes=random.randint(10, 60),
    )


STATE_AFTER: dict[str, CallState] = {
    "proposed": "pending",
    "started": "started",
    "done": "done",
    "failed": "failed",
    "unknown": "unknown",
    "released": "pending",
    "superseded": "rejected",
    "expired": "expired",
    "approve": "pending",
    "edit": "pending",
    "reject": "rejected",
    "respond": "done",
    "happened": "done",
    "did_not_happen": "failed",
    "try_again": "pending",
}
"""Where an event of the audit leads; for ``decided`` and ``settled`` by what was said."""


class Books:
    """Counts permissions as they are given and starts as they are won, apart from the ledger."""

    def __init__(self, ledger: ExecutionLedger, clock: Clock) -> None:
        self.ledger = ledger
        self.clock = clock
        self.approvals: Counter[str] = Counter()
        self.releases: Counter[str] = Counter()
        self.retries: Counter[str] = Counter()
        self.starts: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        self.approved_hash: dict[str, str] = {}
        self.ended: dict[str, ToolCall] = {}

    async def propose(self, call_id: str, start: Start) -> None:
        end = self.clock.now + timedelta(hours=3) if start.expires else None
        changes = {"retryable": start.retryable, "expires_at": end, "proposed_at": self.clock.now, "run_id": call_id}
        await self.ledger.propose(pending_call(call_id).model_copy(update=changes))
        self.changes[call_id] += 1

    async def apply(self, step: Step) -> None:
        ledger, call_id, runner = self.ledger, step.call_id, step.runner
        match step.kind:
            case "decide":
                await self.decide(step)
            case "start":
                await self.start(step)
            case "settle":
                await self.settle(step)
            case "release":
                released = await ledger.release_retryable(call_id, runner=runner)
                self.changes[call_id] += released
                self.releases[call_id] += released
                assert (await ledger.get(call_id)).retryable or not released
            case "finish":
                self.changes[call_id] += await ledger.finish(call_id, ToolOutput("result"), runner=runner)
            case "lose":
                self.changes[call_id] += await ledger.mark_unknown(call_id, runner=runner, why="its runner died")
            case "wait":
                self.clock.now += timedelta(minutes=step.minutes)
            case "supersede" | "expire":
                await self.end(step)

    async def end(self, step: Step) -> None:
        if step.kind == "expire":
            self.changes.update(call.call_id for call in await self.ledger.expire())
        elif step.minutes > 50:
            self.changes.update(await self.ledger.supersede(step.call_id, approved=step.saw_current))

    async def decide(self, step: Step) -> None:
        call = await self.ledger.get(step.call_id)
        seen_hash = call.arguments_hash if step.saw_current else "0" * 64
        arguments: Arguments | None = None
        if step.decision == "edit":
            arguments = {"name": "web", "replicas": step.minutes}
        try:
            decided = await self.ledger.decide(
                step.call_id, step.decision, seen_hash=seen_hash, actor=step.actor, reason="said", arguments=arguments
            )
        except (DecisionConflict, ArgumentsChanged):
            return
        assert step.saw_current
        self.changes[step.call_id] += 1
        if step.decision in ("approve", "edit"):
            self.approvals[step.call_id] += 1
            self.approved_hash[step.call_id] = decided.arguments_hash
            expected = arguments_hash(call.server, call.tool, arguments) if arguments else seen_hash
            assert decided.arguments_hash == expected

    async def start(self, step: Step) -> None:
        if await self.ledger.start(step.call_id, runner=step.runner):
            self.changes[step.call_id] += 1
            self.starts[step.call_id] += 1
            call = await self.ledger.get(step.call_id)
            assert call.arguments_hash == self.approved_hash[step.call_id]
            assert call.expires_at is None or call.expires_at > self.clock.now

    async def settle(self, step: Step) -> None:
        before = await self.ledger.get(step.call_id)
        try:
            await self.ledger.settle(step.call_id, step.settlement, actor=step.actor)
        except DecisionConflict:
            return
        assert before.state == "unknown"
        self.changes[step.call_id] += 1
        self.retries[step.call_id] += step.settlement == "try_again"

    async def check(self) -> None:
        calls, entries = await self.ledger.find(), await self.ledger.audit()
        for call_id, starts in self.starts.items():
            assert starts <= self.approvals[call_id] + self.releases[call_id], "a start without a permission of its own"
            assert self.approvals[call_id] <= 1 + self.retries[call_id], "two decisions without a person's try_again"
            assert self.releases[call_id] < MAX_UNASKED_ATTEMPTS, "tried again for ever, unasked"
        assert {entry.call_id: _leads_to(entry) for entry in entries} == {call.call_id: call.state for call in calls}
        assert Counter(entry.call_id for entry in entries) == self.changes, "changes without a line of the audit"
        for call in calls:
            if call.final:
                assert self.ended.setdefault(call.call_id, call) == call, "an ended call changed"
        assert set(self.ended) == {call.call_id for call in calls if call.final}
        waiting = await self.ledger.waiting()
        assert {call.call_id for call in waiting} == {call.call_id for call in calls if call.waiting}


@pytest.mark.parametrize("seed", range(20))
async def test_no_sequence_starts_a_call_without_an_approval_or_twice_without_a_persons_word(seed: int) -> None:
    random, clock = Random(seed), Clock()
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    books = Books(ExecutionLedger(engine, clock=clock), clock)
    for number in range(STEPS):
        calls = [call.call_id for call in await books.ledger.find() if not call.final]
        if len(calls) < 2:
            calls.append(f"c{number}")
            await books.propose(calls[-1], Start(retryable=random.random() < 0.5, expires=random.random() < 0.5))
        if books.ended and random.random() < 0.2:
            calls = [*books.ended]
        await books.apply(any_step(random, calls))
        if number % 4 == 3:
            await books.check()
    await engine.dispose()


def _leads_to(entry: AuditEntry) -> CallState:
    said = entry.detail.get("decision") or entry.detail.get("settlement") or entry.event
    return STATE_AFTER[str(said)]
