"""Approvals: what waits for a person, what a person decides, and what is told to the runs that wait.

The ledger is the truth; this service adds the tool's schema to it, gives grants with decisions, and wakes runs. It
runs no tool.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from app.approval_schema import (
    Approval,
    ApprovalCard,
    ApprovalCounts,
    ApprovalList,
    AuditLine,
    AuditTrail,
    DecisionRequest,
    GrantInfo,
    GrantList,
    GrantRequest,
    SettlementRequest,
    ToolFacts,
)
from app.errors import ToolNotOffered
from tools.arguments import validate_arguments
from tools.calls import AuditEntry, CallState, ToolCall
from tools.errors import DecisionConflict, GrantNotAllowed, GrantUnknown
from tools.grants import GrantStore, StandingGrant
from tools.ledger import ExecutionLedger
from tools.policy import Grant, covers, grantable
from tools.types import Arguments, Risk, ToolSpec

logger = logging.getLogger(__name__)

Wake: TypeAlias = Callable[[str], Awaitable[None]]
"""Told the id of a run whose calls changed; resumes the run if it can, returns soon, does not raise."""
FindTool: TypeAlias = Callable[[str, str], Awaitable[ToolSpec | None]]
"""The tool of a server by its name there, None while it is not on offer."""

SWEEP_SECONDS = 30.0
"""How often calls that nobody decided are ended when nobody looks either."""

RISK_REASONS: Mapping[Risk, str] = {
    "read": "It looks and changes nothing.",
    "write": "It changes something.",
    "destructive": "What it does cannot be undone, so each call is decided alone.",
    "egress": "It sends text to an address outside.",
    "unknown": "Nobody vouched for this tool, so it may do anything that its server can.",
}


class ApprovalService:
    """Decisions over one ledger. Safe from several processes, as the ledger is."""

    def __init__(self, ledger: ExecutionLedger, grants: GrantStore, *, find_tool: FindTool, wake: Wake) -> None:
        self._ledger = ledger
        self._grants = grants
        self._find_tool = find_tool
        self._wake = wake

    async def list(
        self, *, states: Sequence[CallState] = (), thread_id: str = "", run_id: str = "", limit: int = 200
    ) -> ApprovalList:
        """What waits for a person, or the newest calls in these states; in order of proposal either way."""
        await self.expire()
        waiting = await self._ledger.waiting(thread_id=thread_id, run_id=run_id)
        shown = waiting[:limit]
        if states:
            shown = await self._ledger.find(states=states, thread_id=thread_id, run_id=run_id, limit=limit)
        unknown = sum(call.state == "unknown" for call in waiting)
        return ApprovalList(
            approvals=[_approval(call) for call in shown],
            counts=ApprovalCounts(pending=len(waiting) - unknown, unknown=unknown),
        )

    async def card(self, call_id: str) -> ApprovalCard:
        """Everything stored of a call, and what its tool is now; raises ``CallUnknown``."""
        await self.expire()
        call = await self._ledger.get(call_id)
        # A call that has ended needs no tool any more; its server may be down and slow to say so.
        spec = None if call.final else await self._find_tool(call.server, call.tool)
        return ApprovalCard(
            approval=_approval(call),
            tool=_facts(spec, call) if spec else None,
            runner=call.runner,
            started_at=call.started_at,
            finished_at=call.finished_at,
            result_text=call.result_text,
            result_structured=call.result_structured,
            audit=[_line(entry) for entry in await self._ledger.audit(call_id=call_id)],
        )

    async def decide(self, call_id: str, request: DecisionRequest, *, actor: str) -> Approval:
        """Decide a call; the first decision stands.

        The grant is given after the decision has won: a process that dies in between leaves the decision without it.

        Raises:
            CallUnknown: No such call.
            DecisionConflict: Decided before, or, as ``CallExpired``, too late.
            ArgumentsChanged: The arguments are not the ones that were seen.
            ArgumentsInvalid: Edited arguments do not fit the tool's schema.
            ToolNotOffered: An edit cannot be checked, for the tool is not on offer.
            GrantNotAllowed: The tool is decided each time, or the patterns miss this call.
        """
        await self.expire()
        call = await self._ledger.get(call_id)
        if request.arguments is not None:
            await self._check_edit(call, request.arguments)
        if request.grant != "none":
            _check_grant(call, request.patterns, request.arguments or call.arguments)
        decided = await self._ledger.decide(
            call_id,
            request.decision,
            seen_hash=request.seen_hash,
            actor=actor,
            reason=request.reason,
            arguments=request.arguments,
        )
        logger.info("Call decided", extra={"call_id": call_id, "run_id": call.run_id, "decision": request.decision})
        if request.grant != "none":
            await self._grants.give(
                _spec_of(call),
                thread_id=call.thread_id,
                granted_by=actor,
                arguments=request.patterns,
                call_id=call_id,
            )
        await self._wake(call.run_id)
        return _approval(decided)

    async def settle(self, call_id: str, request: SettlementRequest, *, actor: str) -> Approval:
        """Say what became of a call whose outcome is unknown; raises ``CallUnknown`` and ``DecisionConflict``."""
        settled = await self._ledger.settle(call_id, request.settlement, actor=actor, note=request.note)
        logger.info("Call settled", extra={"call_id": call_id, "run_id": settled.run_id, "state": settled.state})
        await self._wake(settled.run_id)
        return _approval(settled)

    async def reject_run(self, run_id: str, *, actor: str, reason: str = "") -> ApprovalList:
        """Reject every undecided call of a run; those that somebody decides meanwhile keep that decision."""
        rejected: list[Approval] = []
        for call in await self._ledger.waiting(run_id=run_id):
            if call.state == "unknown":
                continue
            try:
                decided = await self._ledger.decide(
                    call.call_id, "reject", seen_hash=call.arguments_hash, actor=actor, reason=reason
                )
            except DecisionConflict:
                continue
            rejected.append(_approval(decided))
        if rejected:
            await self._wake(run_id)
        counts = (await self.list(run_id=run_id)).counts
        return ApprovalList(approvals=rejected, counts=counts)

    async def end_thread(self, thread_id: str) -> None:
        """Reject what a thread still waits for, before it is deleted; its audit trail stays."""
        await self._ledger.supersede_thread(thread_id, why="The chat was deleted.")

    async def expire(self) -> None:
        """End what nobody decided in time and wake its runs."""
        expired = await self._ledger.expire()
        for run_id in dict.fromkeys(call.run_id for call in expired):
            logger.info("Calls expired", extra={"run_id": run_id})
            await self._wake(run_id)

    async def sweep(self, *, every_seconds: float = SWEEP_SECONDS) -> None:
        """Expire for ever."""
        while True:
            try:
                await self.expire()
            except Exception:
                # A background worker: whatever fails now, the database away for example, is tried again.
                logger.exception("Expired calls not ended yet")
            await asyncio.sleep(every_seconds)

    async def audit(self, *, since: datetime | None = None, after: int = 0, limit: int = 1000) -> AuditTrail:
        """A page of the audit trail, oldest first."""
        entries = await self._ledger.audit(since=since, after=after, limit=limit)
        return AuditTrail(
            entries=[_line(entry) for entry in entries], next=entries[-1].entry if len(entries) == limit else None
        )

    async def grants(self) -> GrantList:
        """Standing grants, oldest first."""
        return GrantList(grants=[_grant_info(record) for record in await self._grants.records()])

    async def give_grant(self, request: GrantRequest, *, actor: str) -> GrantInfo:
        """Give a grant without a card.

        Raises:
            ToolNotOffered: The tool is not on offer, so its risk is not known.
            GrantNotAllowed: The tool is decided each time, or the grant would cover everything it does.
        """
        spec = await self._find_tool(request.server, request.tool)
        if spec is None:
            raise ToolNotOffered(
                f"The tool {request.tool!r} of {request.server!r} is not on offer; a grant needs its risk class."
            )
        record = await self._grants.give(
            spec, thread_id=request.thread_id, granted_by=actor, arguments=request.arguments
        )
        return _grant_info(record)

    async def revoke_grant(self, grant_id: str, *, actor: str) -> None:
        """Take a grant back; raises ``GrantUnknown``."""
        if not await self._grants.revoke(grant_id, revoked_by=actor):
            raise GrantUnknown(f"No standing grant {grant_id!r}; list them with `groundwork grants list`.")

    async def _check_edit(self, call: ToolCall, arguments: Arguments) -> None:
        spec = await self._find_tool(call.server, call.tool)
        if spec is None:
            raise ToolNotOffered(
                f"The tool {call.tool!r} of {call.server!r} is not on offer, so the edit cannot be checked; "
                "reject the call, or try again when its server answers."
            )
        validate_arguments(spec, arguments)


def _check_grant(call: ToolCall, patterns: Mapping[str, str], arguments: Arguments) -> None:
    if not grantable(_spec_of(call)):
        raise GrantNotAllowed(f"Calls of {call.tool!r} are {call.risk}; each one is decided alone.")
    grant = Grant("", "arguments", call.server, call.tool, call.thread_id, patterns)
    if not covers(grant, server=call.server, tool=call.tool, thread_id=call.thread_id, arguments=arguments):
        raise GrantNotAllowed("The patterns do not match the arguments of this call; correct them.")


def _spec_of(call: ToolCall) -> ToolSpec:
    """The tool as the call knows it: enough for a grant, also while its server is down."""
    return ToolSpec(call.server, call.tool, description="", input_schema={}, risk=call.risk)


def _approval(call: ToolCall) -> Approval:
    shared = call.model_dump(include=set(Approval.model_fields))
    return Approval(
        **shared,
        risk_reason=RISK_REASONS[call.risk],
        waiting=call.waiting,
        grantable=grantable(_spec_of(call)),
    )


def _facts(spec: ToolSpec, call: ToolCall) -> ToolFacts:
    return ToolFacts(
        description=spec.description,
        input_schema=dict(spec.input_schema),
        idempotent=spec.idempotent,
        timeout_seconds=spec.timeout_seconds,
        changed=spec.fingerprint != call.fingerprint,
    )


def _line(entry: AuditEntry) -> AuditLine:
    return AuditLine(**entry.model_dump())


def _grant_info(record: StandingGrant) -> GrantInfo:
    grant = record.grant
    return GrantInfo(
        grant_id=grant.grant_id,
        scope=grant.scope,
        server=grant.server,
        tool=grant.tool,
        thread_id=grant.thread_id,
        arguments=dict(grant.arguments),
        granted_by=record.granted_by,
        granted_at=record.granted_at,
        call_id=record.call_id,
    )
