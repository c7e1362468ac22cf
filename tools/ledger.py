"""The execution ledger: the truth about every proposed call, in SQL.

Each change of state is one conditional UPDATE with its audit line in the same transaction, committed before the effect
it allows and after the effect it records; whoever updates no row has lost the race and learns so. The caller's clock
is used, never the database's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, and_, case, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tools.calls import (
    AuditEntry,
    CallState,
    DecisionKind,
    Settlement,
    ToolCall,
    call_from_row,
    entry_from_row,
    storable_json,
    storable_text,
)
from tools.errors import ArgumentsChanged, CallExpired, CallUnknown, DecisionConflict
from tools.fingerprint import arguments_hash
from tools.tables import AUDIT, TOOL_CALLS
from tools.types import Arguments, ToolOutput

POLICY_ACTOR = "policy"
"""Actor of decisions that no person made."""
GROUNDWORK_ACTOR = "groundwork"
"""Actor of changes that the platform makes to keep its books."""
CLOCK_ACTOR = "clock"
"""Actor of expiry."""
MAX_UNASKED_ATTEMPTS = 3
"""Starts of one retryable call before a person is asked after all: a tool that kills its runner is no retry's job."""

_FINAL_BY_DECISION: Mapping[str, CallState] = {"reject": "rejected", "respond": "done"}
_STATE_BY_SETTLEMENT: Mapping[Settlement, CallState] = {
    "happened": "done",
    "did_not_happen": "failed",
    "try_again": "pending",
}
_UNDECIDED = and_(TOOL_CALLS.c.state == "pending", TOOL_CALLS.c.decision.is_(None))
_WAITING = or_(_UNDECIDED, TOOL_CALLS.c.state == "unknown")


class ExecutionLedger:
    """Calls over one database. Safe from several processes: the database decides every race."""

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        lifetime: timedelta = timedelta(hours=24),
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.lifetime = lifetime
        """How long a call that waits anew may wait, and how long a decision on it holds."""
        self._engine = engine
        self._clock = clock

    async def propose(self, call: ToolCall) -> ToolCall:
        """Store a proposed call and return what is stored; a known ``call_id`` keeps its first row."""
        texts = ("motive", "taint_source", "policy_reason")
        call = call.model_copy(update={name: storable_text(getattr(call, name)) for name in texts})
        values = call.model_dump()
        try:
            async with self._engine.begin() as connection:
                await connection.execute(insert(TOOL_CALLS).values(**values))
                await self._audit(connection, call.call_id, actor="model", event="proposed", detail=_proposal(call))
        except IntegrityError:
            return await self.get(call.call_id)
        return call

    async def get(self, call_id: str) -> ToolCall:
        """The call of that id; raises ``CallUnknown``."""
        async with self._engine.connect() as connection:
            row = (
                (await connection.execute(select(TOOL_CALLS).where(TOOL_CALLS.c.call_id == call_id))).mappings().first()
            )
        if row is None:
            raise CallUnknown(f"No tool call {call_id!r}; list the waiting ones with `groundwork approvals list`.")
        return call_from_row(dict(row))

    async def find(
        self, *, states: Sequence[CallState] = (), thread_id: str = "", run_id: str = "", limit: int | None = None
    ) -> list[ToolCall]:
        """Calls in any of these states, of that thread and run where given, in order of proposal.

        Of more than ``limit`` the newest.
        """
        conditions = [TOOL_CALLS.c.state.in_(states)] if states else []
        return await self._select(and_(true(), *conditions, *_of(thread_id, run_id)), limit)

    async def waiting(self, *, thread_id: str = "", run_id: str = "") -> list[ToolCall]:
        """Calls that a person has to decide or settle, in order of proposal."""
        return await self._select(and_(_WAITING, *_of(thread_id, run_id)), None)

    async def decide(
        self,
        call_id: str,
        decision: DecisionKind,
        *,
        seen_hash: str,
        actor: str,
        reason: str = "",
        arguments: Arguments | None = None,
    ) -> ToolCall:
        """Decide a pending call; the first decision stands.

        Args:
            call_id: The call.
            decision: What is decided; ``reason`` is the person's answer for ``respond``.
            seen_hash: Hash of the arguments that the decider saw.
            actor: Who decides.
            reason: Why, for the model and the audit.
            arguments: New arguments for ``edit``, already held against the schema.

        Raises:
            CallUnknown: No such call.
            CallExpired: Nobody decided in time.
            DecisionConflict: Decided or started before.
            ArgumentsChanged: The stored arguments are not the ones that were seen.
            ValueError: ``edit`` without arguments, or arguments without ``edit``.
        """
        if (decision == "edit") != (arguments is not None):
            raise ValueError("An edit, and nothing else, comes with arguments.")
        call = await self.get(call_id)
        now, reason = self._clock(), storable_text(reason)
        values: dict[str, Any] = {
            "decision": decision,
            "decided_by": actor,
            "decision_reason": reason,
            "decided_at": now,
        }
        detail: dict[str, JsonValue] = {"decision": decision, "reason": reason, "policy": call.policy_reason}
        if arguments is not None:
            values |= {
                "arguments": dict(arguments),
                "arguments_hash": arguments_hash(call.server, call.tool, arguments),
                "original_arguments": call.original_arguments or call.arguments,
            }
            detail |= {"arguments": dict(arguments), "original": call.arguments}
        if decision in _FINAL_BY_DECISION:
            values |= {"state": _FINAL_BY_DECISION[decision], "result_text": reason, "finished_at": now}
        # What was read above is what was seen: equal hashes are equal arguments, before and in the update.
        open_ = and_(_UNDECIDED, TOOL_CALLS.c.arguments_hash == seen_hash, _in_time(now))
        seen = call.arguments_hash == seen_hash
        if not (seen and await self._change(call_id, open_, values, actor=actor, event="decided", detail=detail)):
            raise await self._conflict(call_id, seen_hash)
        return await self.get(call_id)

    async def start(self, call_id: str, *, runner: str) -> bool:
        """Claim an approved call for one runner; True for exactly one caller, before it causes the effect.

        An approval holds until the call expires: one that was given before a long outage starts nothing after it.
        """
        now = self._clock()
        approved = and_(TOOL_CALLS.c.state == "pending", TOOL_CALLS.c.decision.in_(("approve", "edit")), _in_time(now))
        values = {"state": "started", "runner": runner, "started_at": now, "attempt": TOOL_CALLS.c.attempt + 1}
        return await self._change(call_id, approved, values, actor=runner, event="started", detail={})

    async def finish(self, call_id: str, output: ToolOutput, *, runner: str, failed: bool = False) -> bool:
        """Record what a started call returned; False when the runner lost the call meanwhile (marked unknown)."""
        mine = and_(TOOL_CALLS.c.state == "started", TOOL_CALLS.c.runner == runner)
        values = {
            "state": "failed" if failed else "done",
            "result_text": storable_text(output.text),
            "result_structured": storable_json(output.structured) if output.structured is not None else None,
            "finished_at": self._clock(),
        }
        event = "failed" if failed else "done"
        return await self._change(call_id, mine, values, actor=runner, event=event, detail={})

    async def mark_unknown(self, call_id: str, *, runner: str, why: str, actor: str = "") -> bool:
        """A started call whose outcome nobody recorded: its runner died, or the answer never came.

        ``actor`` is who noticed, the runner itself when empty. False when the runner does not hold the call.
        """
        held = and_(TOOL_CALLS.c.state == "started", TOOL_CALLS.c.runner == runner)
        detail: dict[str, JsonValue] = {"why": why, "runner": runner}
        return await self._change(
            call_id, held, {"state": "unknown"}, actor=actor or runner, event="unknown", detail=detail
        )

    async def release_retryable(self, call_id: str, *, runner: str, actor: str = GROUNDWORK_ACTOR) -> bool:
        """Let a retryable call of a dead runner start again under the decision it has.

        False for a call that is not retryable, that the runner does not hold, or that was started
        ``MAX_UNASKED_ATTEMPTS`` times: then its outcome is unknown and a person is asked.
        """
        held = and_(
            TOOL_CALLS.c.state.in_(("started", "unknown")),
            TOOL_CALLS.c.runner == runner,
            TOOL_CALLS.c.retryable,
            TOOL_CALLS.c.attempt < MAX_UNASKED_ATTEMPTS,
        )
        values = {"state": "pending", "runner": None, "started_at": None, "expires_at": self._fresh_end()}
        return await self._change(
            call_id, held, values, actor=actor, event="released", detail={"runner": runner, "why": "retryable"}
        )

    async def give_up(self, call: ToolCall, *, why: str) -> None:
        """Say of a started call whose runner is gone what may be said: it may start again unasked, or is unknown."""
        runner = call.runner or ""
        if not await self.release_retryable(call.call_id, runner=runner):
            await self.mark_unknown(call.call_id, runner=runner, why=why, actor=GROUNDWORK_ACTOR)

    async def can_go_on(self, run_id: str) -> bool:
        """Whether a run that waits would get further: a call is approved and not started, or none waits any more."""
        state, decision = TOOL_CALLS.c.state, TOOL_CALLS.c.decision
        query = select(state, decision).where(TOOL_CALLS.c.run_id == run_id, state.in_(("pending", "unknown")))
        async with self._engine.connect() as connection:
            open_calls = [(row.state, row.decision) for row in await connection.execute(query)]
        return not open_calls or any(found == "pending" and decided for found, decided in open_calls)

    async def settle(self, call_id: str, settlement: Settlement, *, actor: str, note: str = "") -> ToolCall:
        """A person says what became of an unknown call; ``try_again`` makes it wait for a fresh decision.

        Raises:
            CallUnknown: No such call.
            DecisionConflict: The outcome is not unknown, or somebody settled it before.
        """
        state, note = _STATE_BY_SETTLEMENT[settlement], storable_text(note)
        if settlement == "try_again":
            cleared = ("decision", "decided_by", "decided_at", "decision_reason", "runner", "started_at")
            values: dict[str, Any] = dict.fromkeys(cleared)
            values |= {"state": state, "expires_at": self._fresh_end()}
        else:
            text = note or f"A person settled the unknown outcome: {settlement.replace('_', ' ')}."
            values = {"state": state, "result_text": text, "finished_at": self._clock()}
        unknown = TOOL_CALLS.c.state == "unknown"
        detail: dict[str, JsonValue] = {"settlement": settlement, "note": note}
        if not await self._change(call_id, unknown, values, actor=actor, event="settled", detail=detail):
            now = (await self.get(call_id)).state
            raise DecisionConflict(f"The call {call_id!r} is {now}; there is nothing to settle.")
        return await self.get(call_id)

    async def supersede(
        self,
        run_id: str,
        *,
        keep: Collection[str] = (),
        why: str = "The run went on without it.",
        approved: bool = False,
    ) -> list[str]:
        """Reject the undecided calls of a run that can no longer be meant; returns their ids.

        Args:
            run_id: The run.
            keep: Calls that stay as they are.
            why: Told to the model and kept in the audit.
            approved: End approved calls that nobody has started as well.
        """
        return await self._supersede(
            and_(TOOL_CALLS.c.run_id == run_id, TOOL_CALLS.c.call_id.not_in(keep)), why, approved
        )

    async def supersede_thread(self, thread_id: str, *, why: str) -> list[str]:
        """Reject every call of a thread that has not been started; returns their ids."""
        return await self._supersede(TOOL_CALLS.c.thread_id == thread_id, why, approved=True)

    async def expire(self, call_id: str = "") -> list[ToolCall]:
        """End calls, or that one, whose time ran out before they were started; returns those that this call ended."""
        now = self._clock()
        named = [TOOL_CALLS.c.call_id == call_id] if call_id else []
        overdue = and_(TOOL_CALLS.c.state == "pending", TOOL_CALLS.c.expires_at <= now, *named)
        if not await self._select(overdue, 1):
            return []  # asked at every look: nothing to end must take no lock
        values = {"state": "expired", "finished_at": now, "result_text": "The call expired before it was started."}
        changed = await self._change_all(overdue, values, actor=CLOCK_ACTOR, event="expired", detail={})
        return [await self.get(ended) for ended in changed]

    async def audit(
        self, *, call_id: str = "", since: datetime | None = None, after: int = 0, limit: int | None = None
    ) -> list[AuditEntry]:
        """The audit trail, oldest first: of one call or of all, from a time on, behind an entry."""
        query = select(AUDIT).where(AUDIT.c.entry > after).order_by(AUDIT.c.entry).limit(limit)
        if call_id:
            query = query.where(AUDIT.c.call_id == call_id)
        if since is not None:
            query = query.where(AUDIT.c.at >= since.astimezone(UTC))
        async with self._engine.connect() as connection:
            return [entry_from_row(dict(row)) for row in (await connection.execute(query)).mappings()]

    async def _select(self, condition: ColumnElement[bool], limit: int | None) -> list[ToolCall]:
        newest_first = (TOOL_CALLS.c.proposed_at.desc(), TOOL_CALLS.c.call_id.desc())
        query = select(TOOL_CALLS).where(condition).order_by(*newest_first).limit(limit)
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [call_from_row(dict(row)) for row in reversed(rows)]

    async def _supersede(self, which: ColumnElement[bool], why: str, approved: bool) -> list[str]:
        now = self._clock()
        condition = and_(TOOL_CALLS.c.state == "pending" if approved else _UNDECIDED, which)
        values = {
            "state": "rejected",
            "decision": func.coalesce(TOOL_CALLS.c.decision, "reject"),
            "decided_by": func.coalesce(TOOL_CALLS.c.decided_by, GROUNDWORK_ACTOR),
            "decided_at": func.coalesce(TOOL_CALLS.c.decided_at, now),
            "decision_reason": func.coalesce(TOOL_CALLS.c.decision_reason, why),
            "result_text": why,
            "finished_at": now,
        }
        detail: dict[str, JsonValue] = {"why": why}
        return await self._change_all(condition, values, actor=GROUNDWORK_ACTOR, event="superseded", detail=detail)

    async def _change(
        self,
        call_id: str,
        condition: ColumnElement[bool],
        values: Mapping[str, Any],
        *,
        actor: str,
        event: str,
        detail: Mapping[str, JsonValue],
    ) -> bool:
        named = and_(TOOL_CALLS.c.call_id == call_id, condition)
        return bool(await self._change_all(named, values, actor=actor, event=event, detail=detail))

    async def _change_all(
        self,
        condition: ColumnElement[bool],
        values: Mapping[str, Any],
        *,
        actor: str,
        event: str,
        detail: Mapping[str, JsonValue],
    ) -> list[str]:
        statement = update(TOOL_CALLS).where(condition).values(**values).returning(TOOL_CALLS.c.call_id)
        async with self._engine.begin() as connection:
            changed = list((await connection.execute(statement)).scalars())
            for call_id in changed:
                await self._audit(connection, call_id, actor=actor, event=event, detail=detail)
        return changed

    async def _audit(
        self, connection: AsyncConnection, call_id: str, *, actor: str, event: str, detail: Mapping[str, JsonValue]
    ) -> None:
        values = {"call_id": call_id, "at": self._clock(), "actor": actor, "event": event, "detail": dict(detail)}
        await connection.execute(insert(AUDIT).values(**values))

    async def _conflict(self, call_id: str, seen_hash: str) -> DecisionConflict | ArgumentsChanged:
        call = await self.get(call_id)
        undecided = call.state == "pending" and call.decision is None
        if undecided and call.arguments_hash != seen_hash:
            return ArgumentsChanged(f"The arguments of {call_id!r} are not the ones you saw; reload the card.")
        if undecided or call.state == "expired":
            return CallExpired(f"The call {call_id!r} expired at {_clock_time(call.expires_at)}; nothing was run.")
        if call.decided_by is None:
            return DecisionConflict(f"The call {call_id!r} is {call.state}; there is nothing to decide.")
        return DecisionConflict(
            f"The call {call_id!r} was decided by {call.decided_by} ({call.decision}) at "
            f"{_clock_time(call.decided_at)}; the first decision stands."
        )

    def _fresh_end(self) -> ColumnElement[datetime | None]:
        """A new end for a call that waits again; a call without an end keeps none."""
        return case((TOOL_CALLS.c.expires_at.is_not(None), self._clock() + self.lifetime), else_=None)


def _in_time(now: datetime) -> ColumnElement[bool]:
    return or_(TOOL_CALLS.c.expires_at.is_(None), TOOL_CALLS.c.expires_at > now)


def _of(thread_id: str, run_id: str) -> list[ColumnElement[bool]]:
    given = ((TOOL_CALLS.c.thread_id, thread_id), (TOOL_CALLS.c.run_id, run_id))
    return [column == value for column, value in given if value]


def _clock_time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "an unknown time"


def _proposal(call: ToolCall) -> dict[str, JsonValue]:
    return {"server": call.server, "tool": call.tool, "arguments": call.arguments, "policy": call.policy_reason}
