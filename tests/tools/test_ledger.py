from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.tools.conftest import Clock
from tests.tools.samples import pending_call
from tools.calls import DecisionKind
from tools.errors import ArgumentsChanged, CallUnknown, DecisionConflict
from tools.fingerprint import arguments_hash
from tools.ledger import ExecutionLedger
from tools.types import ToolOutput


async def test_a_call_proposed_twice_keeps_its_first_row(ledger: ExecutionLedger) -> None:
    first = await ledger.propose(pending_call("c1"))
    again = await ledger.propose(pending_call("c1", arguments={"name": "other"}))
    assert again == first
    assert [entry.event for entry in await ledger.audit(call_id="c1")] == ["proposed"]


async def test_of_many_decisions_at_once_exactly_one_stands(ledger: ExecutionLedger) -> None:
    call = await ledger.propose(pending_call("c1"))
    kinds: list[DecisionKind] = ["approve", "reject"] * 5

    async def decide(kind: DecisionKind, actor: str) -> str:
        try:
            decided = await ledger.decide("c1", kind, seen_hash=call.arguments_hash, actor=actor)
        except DecisionConflict:
            return ""
        return decided.decided_by or ""

    winners = [name for name in await asyncio.gather(*(decide(k, f"p{i}") for i, k in enumerate(kinds))) if name]
    assert winners == [(await ledger.get("c1")).decided_by]
    assert [entry.event for entry in await ledger.audit(call_id="c1")] == ["proposed", "decided"]


async def test_a_decision_on_other_arguments_than_the_stored_ones_is_refused(ledger: ExecutionLedger) -> None:
    await ledger.propose(pending_call("c1"))
    with pytest.raises(ArgumentsChanged):
        await ledger.decide("c1", "approve", seen_hash="0" * 64, actor="ana")
    assert (await ledger.get("c1")).decision is None


async def test_an_edit_stores_new_arguments_their_hash_and_the_original(ledger: ExecutionLedger) -> None:
    call = await ledger.propose(pending_call("c1"))
    edited = await ledger.decide(
        "c1", "edit", seen_hash=call.arguments_hash, actor="ana", arguments={"name": "web", "replicas": 2}
    )
    assert edited.arguments == {"name": "web", "replicas": 2}
    assert edited.original_arguments == {"name": "web"}
    assert edited.arguments_hash == arguments_hash("groundwork", "restart_deployment", edited.arguments)


async def test_only_one_of_many_runners_starts_an_approved_call(ledger: ExecutionLedger) -> None:
    call = await ledger.propose(pending_call("c1"))
    assert not await ledger.start("c1", runner="early")
    await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    started = await asyncio.gather(*(ledger.start("c1", runner=f"r{n}") for n in range(8)))
    assert sum(started) == 1


async def test_a_rejected_call_never_starts_and_tells_the_reason(ledger: ExecutionLedger) -> None:
    call = await ledger.propose(pending_call("c1"))
    rejected = await ledger.decide("c1", "reject", seen_hash=call.arguments_hash, actor="ana", reason="not at night")
    assert (rejected.state, rejected.result_text) == ("rejected", "not at night")
    assert not await ledger.start("c1", runner="r1")


async def test_an_expired_call_cannot_be_decided(ledger: ExecutionLedger, clock: Clock) -> None:
    call = await ledger.propose(pending_call("c1"))
    clock.now += timedelta(hours=25)
    with pytest.raises(DecisionConflict):
        await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    assert await ledger.expire() == ["c1"]
    assert (await ledger.get("c1")).state == "expired"


async def test_a_runner_that_lost_its_call_cannot_record_a_result(ledger: ExecutionLedger) -> None:
    call = await ledger.propose(pending_call("c1"))
    await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    await ledger.start("c1", runner="dead")
    assert await ledger.mark_unknown("c1", runner="dead", why="its lease ran out")
    assert not await ledger.finish("c1", ToolOutput("late"), runner="dead")
    assert (await ledger.get("c1")).state == "unknown"


@pytest.mark.parametrize(
    ("settlement", "state"), [("happened", "done"), ("did_not_happen", "failed"), ("try_again", "pending")]
)
async def test_a_person_settles_an_unknown_outcome_once(ledger: ExecutionLedger, settlement: str, state: str) -> None:
    call = await ledger.propose(pending_call("c1"))
    await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    await ledger.start("c1", runner="dead")
    await ledger.mark_unknown("c1", runner="dead", why="killed")
    settled = await ledger.settle("c1", settlement, actor="ana")  # pyright: ignore[reportArgumentType] - parametrised
    assert settled.state == state
    assert not await ledger.start("c1", runner="r2"), "a retry waits for a fresh decision"
    with pytest.raises(DecisionConflict):
        await ledger.settle("c1", "happened", actor="bo")


async def test_an_unknown_id_is_named(ledger: ExecutionLedger) -> None:
    with pytest.raises(CallUnknown, match="nope"):
        await ledger.get("nope")
