from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.tools.conftest import Clock
from tests.tools.samples import START, pending_call
from tools.calls import DecisionKind, ToolCall
from tools.errors import ArgumentsChanged, CallExpired, CallUnknown, DecisionConflict
from tools.fingerprint import arguments_hash
from tools.ledger import MAX_UNASKED_ATTEMPTS, ExecutionLedger
from tools.types import Arguments, ToolOutput


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
    with pytest.raises(CallExpired):
        await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    assert [ended.call_id for ended in await ledger.expire()] == ["c1"]
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


async def lost(ledger: ExecutionLedger, call: ToolCall, *, runner: str = "dead") -> ToolCall:
    """The call as its runner leaves it when it dies before the result."""
    stored = await ledger.propose(call)
    await ledger.decide(stored.call_id, "approve", seen_hash=stored.arguments_hash, actor="ana")
    assert await ledger.start(stored.call_id, runner=runner)
    return await ledger.get(stored.call_id)


async def test_an_approval_that_was_given_before_a_long_outage_starts_nothing(
    ledger: ExecutionLedger, clock: Clock
) -> None:
    call = await ledger.propose(pending_call("c1"))
    await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
    clock.now += timedelta(hours=25)
    assert not await ledger.start("c1", runner="r1")
    assert [ended.state for ended in await ledger.expire("c1")] == ["expired"]


async def test_a_retry_waits_its_whole_time_and_keeps_the_models_own_arguments(
    ledger: ExecutionLedger, clock: Clock
) -> None:
    call = await ledger.propose(pending_call("c1"))
    first: Arguments = {"name": "web", "replicas": 2}
    edited = await ledger.decide("c1", "edit", seen_hash=call.arguments_hash, actor="ana", arguments=first)
    await ledger.start("c1", runner="dead")
    await ledger.mark_unknown("c1", runner="dead", why="killed")
    clock.now += timedelta(hours=30)
    again = await ledger.settle("c1", "try_again", actor="bo")
    assert (again.decision, again.decided_by, again.decision_reason, again.waiting) == (None, None, None, True)
    assert again.expires_at == clock.now + ledger.lifetime
    second: Arguments = {"name": "web", "replicas": 3}
    twice = await ledger.decide("c1", "edit", seen_hash=edited.arguments_hash, actor="bo", arguments=second)
    assert (twice.arguments, twice.original_arguments) == (second, call.arguments)


async def test_calls_of_dead_runners_are_found_and_only_retryable_ones_are_released(ledger: ExecutionLedger) -> None:
    await lost(ledger, pending_call("write"))
    await lost(ledger, pending_call("safe").model_copy(update={"retryable": True}))
    await lost(ledger, pending_call("alive"), runner="living")
    assert [call.call_id for call in await ledger.find(states=["started"])] == ["alive", "safe", "write"]
    assert not await ledger.release_retryable("write", runner="dead")
    assert not await ledger.release_retryable("safe", runner="somebody else")
    assert await ledger.release_retryable("safe", runner="dead")
    released = await ledger.get("safe")
    assert (released.state, released.decision, released.runner) == ("pending", "approve", None)
    assert await ledger.start("safe", runner="next")


async def test_a_retryable_call_that_keeps_killing_its_runner_is_not_released_for_ever(
    ledger: ExecutionLedger,
) -> None:
    await lost(ledger, pending_call("c1").model_copy(update={"retryable": True}))
    releases = 0
    while await ledger.release_retryable("c1", runner="dead"):
        releases += 1
        await ledger.start("c1", runner="dead")
    assert releases == MAX_UNASKED_ATTEMPTS - 1
    assert await ledger.mark_unknown("c1", runner="dead", why="its runner died", actor="groundwork")
    assert [call.call_id for call in await ledger.waiting()] == ["c1"]


async def test_superseding_a_run_ends_what_waits_and_nothing_else(ledger: ExecutionLedger) -> None:
    for call_id in ("orphan", "kept"):
        await ledger.propose(pending_call(call_id))
    approved = await ledger.propose(pending_call("approved"))
    await ledger.decide("approved", "approve", seen_hash=approved.arguments_hash, actor="ana")
    await ledger.propose(pending_call("elsewhere").model_copy(update={"run_id": "run-2", "thread_id": "thread-2"}))
    assert await ledger.supersede("run-1", keep=["kept"], why="A new message came.") == ["orphan"]
    orphan = await ledger.get("orphan")
    assert (orphan.state, orphan.decision, orphan.decided_by) == ("rejected", "reject", "groundwork")
    assert orphan.result_text == "A new message came."
    with pytest.raises(DecisionConflict, match="groundwork"):
        await ledger.decide("orphan", "approve", seen_hash=orphan.arguments_hash, actor="ana")
    ended = await ledger.supersede("run-1", keep=["kept"], why="The turn was made anew.", approved=True)
    assert ended == ["approved"]
    assert not await ledger.start("approved", runner="r1")
    assert [call.call_id for call in await ledger.waiting(run_id="run-1")] == ["kept"]
    assert await ledger.supersede_thread("thread-1", why="The chat was deleted.") == ["kept"]
    assert [call.call_id for call in await ledger.waiting()] == ["elsewhere"]


async def test_the_newest_calls_are_listed_in_order_of_proposal(ledger: ExecutionLedger) -> None:
    for number in range(4):
        call = pending_call(f"c{number}")
        await ledger.propose(call.model_copy(update={"proposed_at": call.proposed_at + timedelta(seconds=number)}))
    assert [call.call_id for call in await ledger.find(limit=2)] == ["c2", "c3"]


async def test_the_audit_trail_can_be_read_from_a_time_and_in_pages(ledger: ExecutionLedger, clock: Clock) -> None:
    for number in range(3):
        clock.now = START + timedelta(minutes=number)
        await ledger.propose(pending_call(f"c{number}"))
    since = await ledger.audit(since=START + timedelta(minutes=1))
    assert [(entry.call_id, entry.at) for entry in since] == [
        ("c1", START + timedelta(minutes=1)),
        ("c2", START + timedelta(minutes=2)),
    ]
    [page] = await ledger.audit(after=since[0].entry, limit=1)
    assert page == since[1]


async def test_results_that_a_database_refuses_are_stored_readable(ledger: ExecutionLedger) -> None:
    await lost(ledger, pending_call("c1"), runner="r1")
    output = ToolOutput("a\0b\ud83d", {"load": float("nan"), "peaks": [1.5, float("inf")]})
    assert await ledger.finish("c1", output, runner="r1")
    done = await ledger.get("c1")
    assert done.result_text is not None
    assert "\0" not in done.result_text
    assert done.result_text.startswith("a\ufffdb\ufffd")
    assert done.result_structured == {"load": "NaN", "peaks": [1.5, "Infinity"]}


async def test_an_unknown_id_is_named(ledger: ExecutionLedger) -> None:
    with pytest.raises(CallUnknown, match="nope"):
        await ledger.get("nope")
