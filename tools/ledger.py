"""The execution ledger: the truth about every proposed call, in SQL (DESIGN 4.4).

Each change of state is one conditional UPDATE, committed before the effect it allows and after the effect it
records; whoever updates no row has lost the race and learns so. The caller's clock is used, never the database's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, and_, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tools.calls import AuditEntry, CallState, DecisionKind, Settlement, ToolCall, call_from_row
from tools.errors import ArgumentsChanged, CallUnknown, DecisionConflict
from tools.fingerprint import arguments_hash
from tools.tables import AUDIT, TOOL_CALLS
from tools.types import Arguments, ToolOutput

POLICY_ACTOR = "policy"
"""Actor of decisions that no person made."""

_FINAL_BY_DECISION: Mapping[str, CallState] = {"reject": "rejected", "respond": "done"}
_STATE_BY_SETTLEMENT: Mapping[Settlement, CallState] = {
    "happened": "done",
    "did_not_happen": "failed",
    "try_again": "pending",
}


class ExecutionLedger:
    """Calls over one database. Safe from several processes: the database decides every race."""

    def __init__(self, engine: AsyncEngine, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._engine = engine
        self._clock = clock

    async def propose(self, call: ToolCall) -> ToolCall:
        """Store a proposed call and return what is stored; a known ``call_id`` keeps its first row."""
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

    async def find(self, *, states: Sequence[CallState] = (), thread_id: str = "", run_id: str = "") -> list[ToolCall]:
        """Calls in any of these states, of that thread and run where given, in order of proposal."""
        query = select(TOOL_CALLS).order_by(TOOL_CALLS.c.proposed_at, TOOL_CALLS.c.call_id)
        if states:
            query = query.where(TOOL_CALLS.c.state.in_(states))
        if thread_id:
            query = query.where(TOOL_CALLS.c.thread_id == thread_id)
        if run_id:
            query = query.where(TOOL_CALLS.c.run_id == run_id)
        async with self._engine.connect() as connection:
            return [call_from_row(dict(row)) for row in (await connection.execute(query)).mappings()]

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
            DecisionConflict: Decided, expired or started before.
            ArgumentsChanged: The stored arguments are not the ones that were seen.
        """
        call = await self.get(call_id)
        now = self._clock()
        values: dict[str, Any] = {
            "decision": decision,
            "decided_by": actor,
            "decision_reason": reason,
            "decided_at": now,
        }
        if decision == "edit" and arguments is not None:
            values |= {
                "arguments": dict(arguments),
                "arguments_hash": arguments_hash(call.server, call.tool, arguments),
                "original_arguments": call.arguments,
            }
        if decision in _FINAL_BY_DECISION:
            values |= {"state": _FINAL_BY_DECISION[decision], "result_text": reason, "finished_at": now}
        undecided = and_(
            TOOL_CALLS.c.state == "pending",
            TOOL_CALLS.c.decision.is_(None),
            TOOL_CALLS.c.arguments_hash == seen_hash,
            or_(TOOL_CALLS.c.expires_at.is_(None), TOOL_CALLS.c.expires_at > now),
        )
        detail: dict[str, JsonValue] = {"decision": decision, "reason": reason, "policy": call.policy_reason}
        if arguments is not None:
            detail |= {"arguments": dict(arguments), "original": call.arguments}
        if not await self._change(call_id, undecided, values, actor=actor, event="decided", detail=detail):
            raise await self._conflict(call_id, seen_hash)
        return await self.get(call_id)

    async def start(self, call_id: str, *, runner: str) -> bool:
        """Claim an approved call for one runner; True for exactly one caller, before it causes the effect."""
        approved = and_(TOOL_CALLS.c.state == "pending", TOOL_CALLS.c.decision.in_(("approve", "edit")))
        values = {
            "state": "started",
            "runner": runner,
            "started_at": self._clock(),
            "attempt": TOOL_CALLS.c.attempt + 1,
        }
        return await self._change(call_id, approved, values, actor=runner, event="started", detail={})

    async def finish(self, call_id: str, output: ToolOutput, *, runner: str, failed: bool = False) -> bool:
        """Record what a started call returned; False when the runner lost the call meanwhile (marked unknown)."""
        mine = and_(TOOL_CALLS.c.state == "started", TOOL_CALLS.c.runner == runner)
        values = {
            "state": "failed" if failed else "done",
            "result_text": output.text,
            "result_structured": dict(output.structured) if output.structured is not None else None,
            "finished_at": self._clock(),
        }
        event = "failed" if failed else "done"
        return await self._change(call_id, mine, values, actor=runner, event=event, detail={})

    async def mark_unknown(self, call_id: str, *, runner: str, why: str) -> bool:
        """A started call whose outcome nobody recorded: its runner died, or the answer never came."""
        mine = and_(TOOL_CALLS.c.state == "started", TOOL_CALLS.c.runner == runner)
        return await self._change(
            call_id, mine, {"state": "unknown"}, actor=runner, event="unknown", detail={"why": why}
        )

    async def settle(self, call_id: str, settlement: Settlement, *, actor: str, note: str = "") -> ToolCall:
        """A person says what became of an unknown call; ``try_again`` makes it wait for a fresh decision."""
        state = _STATE_BY_SETTLEMENT[settlement]
        values: dict[str, Any] = {"state": state, "result_text": note or settlement.replace("_", " ")}
        if settlement == "try_again":
            values = {"state": state, "decision": None, "decided_by": None, "decided_at": None, "runner": None}
        else:
            values["finished_at"] = self._clock()
        unknown = TOOL_CALLS.c.state == "unknown"
        detail: dict[str, JsonValue] = {"settlement": settlement, "note": note}
        if not await self._change(call_id, unknown, values, actor=actor, event="settled", detail=detail):
            raise DecisionConflict(
                f"The call {call_id!r} is {(await self.get(call_id)).state}, there is nothing to settle."
            )
        return await self.get(call_id)

    async def expire(self, *, older_than: timedelta = timedelta(0)) -> list[str]:
        """End undecided calls whose time ran out; returns their ids."""
        now = self._clock() - older_than
        overdue = and_(TOOL_CALLS.c.state == "pending", TOOL_CALLS.c.decision.is_(None), TOOL_CALLS.c.expires_at <= now)
        async with self._engine.connect() as connection:
            ids = list((await connection.execute(select(TOOL_CALLS.c.call_id).where(overdue))).scalars())
        values = {"state": "expired", "finished_at": self._clock(), "result_text": "Nobody decided in time."}
        return [
            call_id
            for call_id in ids
            if await self._change(call_id, overdue, values, actor="clock", event="expired", detail={})
        ]

    async def audit(self, *, call_id: str = "") -> list[AuditEntry]:
        """The audit trail, oldest first, of one call or of all."""
        query = select(AUDIT).order_by(AUDIT.c.entry)
        if call_id:
            query = query.where(AUDIT.c.call_id == call_id)
        async with self._engine.connect() as connection:
            return [AuditEntry.model_validate(dict(row)) for row in (await connection.execute(query)).mappings()]

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
        statement = update(TOOL_CALLS).where(TOOL_CALLS.c.call_id == call_id, condition).values(**values)
        async with self._engine.begin() as connection:
            changed = (await connection.execute(statement)).rowcount == 1
            if changed:
                await self._audit(connection, call_id, actor=actor, event=event, detail=detail)
        return changed

    async def _audit(
        self, connection: AsyncConnection, call_id: str, *, actor: str, event: str, detail: Mapping[str, JsonValue]
    ) -> None:
        values = {"call_id": call_id, "at": self._clock(), "actor": actor, "event": event, "detail": dict(detail)}
        await connection.execute(insert(AUDIT).values(**values))

    async def _conflict(self, call_id: str, seen_hash: str) -> DecisionConflict | ArgumentsChanged:
        call = await self.get(call_id)
        if call.state == "pending" and call.decision is None and call.arguments_hash != seen_hash:
            return ArgumentsChanged(f"The arguments of {call_id!r} are not the ones you saw; reload the card.")
        decided = f"decided by {call.decided_by}" if call.decided_by else call.state
        return DecisionConflict(f"The call {call_id!r} is {decided} already; the first decision stands.")


def _proposal(call: ToolCall) -> dict[str, JsonValue]:
    return {"server": call.server, "tool": call.tool, "arguments": call.arguments, "policy": call.policy_reason}
