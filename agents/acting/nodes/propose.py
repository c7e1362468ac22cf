"""Third node: every call held against its tool, its schema and the policy, and written into the ledger.

A call that a person must decide is shown only after it fits its schema; what the policy allows or denies is decided
here, in its own name, so that the audit has a line for every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from langgraph.runtime import Runtime
from pydantic import JsonValue

from agents.acting.choices import may_call
from agents.acting.context import ActingContext
from agents.acting.records import ActingState, CallRecord, Frame, TurnRecord, load_request
from agents.acting.repetition import MAX_SAME_CALLS, times_called
from agents.drafts import ApprovalDraft, CallDraft
from agents.request import AnswerRequest
from tools.arguments import parse_arguments, validate_arguments
from tools.calls import ToolCall
from tools.errors import DecisionConflict, ToolError
from tools.fingerprint import arguments_hash
from tools.ledger import POLICY_ACTOR
from tools.policy import Grant, PolicyDecision, decide
from tools.registry import ToolRegistry
from tools.types import Tool


async def propose(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """The turn with every call either in the ledger or refused with a sentence."""
    turn = state["turn"]
    assert turn is not None
    context, request, frame = runtime.context, load_request(state["request"]), state["frames"][-1]
    registry = await context.parts.tools.registry()
    grants = await context.parts.grants.standing()
    proposer = _Proposer(context, request, frame, state["taint"], registry, grants, runtime.stream_writer)
    calls = [await proposer.take(turn, index) for index in range(len(turn["calls"]))]
    kept = [call["call_id"] for call in calls if not call["error"]]
    await context.parts.ledger.supersede(request.run_id, keep=kept, approved=True)
    return {"turn": {**turn, "calls": calls}}


@dataclass(frozen=True, slots=True)
class _Proposer:
    context: ActingContext
    request: AnswerRequest
    frame: Frame
    taint: str
    registry: ToolRegistry
    grants: Sequence[Grant]
    say: Callable[[object], None]

    async def take(self, turn: TurnRecord, index: int) -> CallRecord:
        """One call of the turn, proposed or refused."""
        record = turn["calls"][index]
        arguments: dict[str, JsonValue] = {}
        try:
            if record["error"]:
                raise ToolError(record["error"])
            limit = self.context.parts.settings.max_calls_per_turn
            if index >= limit:
                raise ToolError(f"At most {limit} calls are taken from one turn; ask for this one again if needed.")
            tool = self._tool(record["name"])
            arguments = parse_arguments(record["arguments"])
            validate_arguments(tool.spec, arguments)
            self._not_again(turn, index)
        except ToolError as error:
            self._refuse(turn, record, arguments, str(error))
            return {**record, "error": str(error)}
        decision = decide(
            tool.spec,
            arguments,
            rules=self.context.parts.rules,
            grants=self.grants,
            thread_id=self.request.thread_id,
            tainted=bool(self.taint),
        )
        call = await self.context.parts.ledger.propose(self._call(turn, record, tool, arguments, decision))
        self.say(
            CallDraft(
                call.call_id,
                turn["step"],
                self.frame["agent"],
                record["name"],
                decision.action,
                decision.reason,
                tool.spec.server,
                tool.spec.risk,
                arguments,
            )
        )
        await self._apply(call, decision, record["name"])
        return record

    async def _apply(self, call: ToolCall, decision: PolicyDecision, name: str) -> None:
        if decision.action == "ask":
            if call.state == "pending" and call.decision is None:
                self.say(ApprovalDraft(call, name))
            return
        verdict = "approve" if decision.action == "allow" else "reject"
        reason = decision.reason if verdict == "approve" else f"The policy denies this call: {decision.reason}."
        # Already decided: this node ran before and was killed behind the decision.
        with suppress(DecisionConflict):
            await self.context.parts.ledger.decide(
                call.call_id, verdict, seen_hash=call.arguments_hash, actor=POLICY_ACTOR, reason=reason
            )

    def _tool(self, name: str) -> Tool:
        spec = self.context.agent(self.frame["agent"])
        tool = self.registry.get(name)
        if not may_call(spec, name, self.request.guidance):
            raise ToolError(f"The tool {name!r} is not one of yours; use those you were given.")
        return tool

    def _not_again(self, turn: TurnRecord, index: int) -> None:
        record = turn["calls"][index]
        earlier = [call for past in self.frame["turns"] for call in past["calls"]] + turn["calls"][:index]
        times = times_called(earlier, record["name"], record["arguments"])
        if times >= MAX_SAME_CALLS:
            raise ToolError(
                f"You called {record['name']!r} with these arguments {times} times already; use the results you have, "
                "or answer."
            )

    def _call(
        self,
        turn: TurnRecord,
        record: CallRecord,
        tool: Tool,
        arguments: dict[str, JsonValue],
        decision: PolicyDecision,
    ) -> ToolCall:
        spec, now = tool.spec, datetime.now(UTC)
        return ToolCall(
            call_id=record["call_id"],
            run_id=self.request.run_id,
            thread_id=self.request.thread_id,
            server=spec.server,
            tool=spec.name,
            risk=spec.risk,
            fingerprint=spec.fingerprint,
            arguments=arguments,
            arguments_hash=arguments_hash(spec.server, spec.name, arguments),
            motive=turn["text"].strip() or self.frame["task"],
            taint_source=self.taint,
            policy_reason=decision.reason,
            retryable=spec.risk == "read" or spec.idempotent,
            state="pending",
            proposed_at=now,
            expires_at=now + self.context.parts.approval_time if decision.action == "ask" else None,
        )

    def _refuse(self, turn: TurnRecord, record: CallRecord, arguments: dict[str, JsonValue], reason: str) -> None:
        agent = self.frame["agent"]
        self.say(
            CallDraft(record["call_id"], turn["step"], agent, record["name"], "refused", reason, arguments=arguments)
        )
