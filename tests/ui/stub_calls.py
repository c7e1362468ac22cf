"""The stand-in API's part for agents: calls that wait, tools, grants, memory. State lives in one object."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel, JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app import approval_schema, memory_schema, question_schema, schema, tool_schema
from tools.calls import ToolCall
from tools.facts import Fact
from tools.types import Risk

AT = datetime(2026, 1, 5, 10, tzinfo=UTC)
SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "limit": {"type": "string"}},
    "required": ["name"],
}


@dataclass
class CallState:
    """What the API holds of calls and tools."""

    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    decisions: list[tuple[str, approval_schema.DecisionRequest]] = field(
        default_factory=list[tuple[str, approval_schema.DecisionRequest]]
    )
    settlements: list[tuple[str, approval_schema.SettlementRequest]] = field(
        default_factory=list[tuple[str, approval_schema.SettlementRequest]]
    )
    grants: list[approval_schema.GrantInfo] = field(default_factory=list[approval_schema.GrantInfo])
    agents: list[schema.AgentInfo] = field(
        default_factory=lambda: [schema.AgentInfo(name="operator", description="Looks things up and proposes changes.")]
    )
    servers: list[tool_schema.ServerInfo] = field(default_factory=list[tool_schema.ServerInfo])
    tools: list[tool_schema.ToolInfo] = field(default_factory=list[tool_schema.ToolInfo])
    restarts: list[str] = field(default_factory=list[str])
    questions: list[question_schema.Question] = field(default_factory=list[question_schema.Question])
    answers: list[question_schema.QuestionAnswer] = field(default_factory=list[question_schema.QuestionAnswer])
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])

    def propose(
        self,
        call_id: str,
        *,
        run_id: str = "run-0",
        thread_id: str = "thread-1",
        tool: str = "set_memory_limit",
        risk: Risk = "write",
        arguments: Mapping[str, JsonValue] | None = None,
        **more: Any,
    ) -> ToolCall:
        """Put a call into the ledger that waits."""
        fields: dict[str, Any] = {
            "call_id": call_id, "run_id": run_id, "thread_id": thread_id, "server": "cluster", "tool": tool,
            "risk": risk, "fingerprint": "f", "arguments": arguments or {"name": "orders-api", "limit": "768Mi"},
            "arguments_hash": "0" * 64, "proposed_at": AT, "state": "pending",
            "policy_reason": "no policy line matches; unmatched calls are asked for",
            "motive": "The pod was ended at its limit; I will raise it.",
            "expires_at": datetime.now(UTC) + timedelta(minutes=30),
        }  # fmt: skip
        call = ToolCall(**fields | more)
        self.calls[call_id] = call
        return call

    def supersede(self, run_id: str) -> None:
        """Reject what a run waits for, in nobody's name."""
        for call in [call for call in self.calls.values() if call.run_id == run_id and call.waiting]:
            update = {"state": "rejected", "decision": "reject", "decided_by": "groundwork"}
            self.calls[call.call_id] = call.model_copy(update=update)

    async def decided(self, call_id: str) -> ToolCall:
        """The call, once somebody has decided it."""
        async with self.changed:
            await self.changed.wait_for(lambda: not self.calls[call_id].waiting)
        return self.calls[call_id]


def call_routes(state: CallState) -> list[Route]:
    """Routes over the state."""
    api = _Calls(state)
    return [
        Route("/api/agents", api.agents),
        Route("/api/approvals", api.approvals),
        Route("/api/approvals/audit", api.audit),
        Route("/api/approvals/rejections", api.reject_run, methods=["POST"]),
        Route("/api/approvals/{call_id}", api.card),
        Route("/api/approvals/{call_id}/decision", api.decide, methods=["POST"]),
        Route("/api/approvals/{call_id}/settlement", api.settle, methods=["POST"]),
        Route("/api/grants", api.grants),
        Route("/api/grants/{grant_id}", api.revoke, methods=["DELETE"]),
        Route("/api/tools", api.tools),
        Route("/api/tools/reviews", api.review, methods=["POST"]),
        Route("/api/tools/enabled", api.switch, methods=["POST"]),
        Route("/api/tools/servers/{server}/restart", api.restart, methods=["POST"]),
        Route("/api/questions", api.questions),
        Route("/api/questions/{question_id}/answer", api.answer, methods=["POST"]),
        Route("/api/memory", api.memory, methods=["GET", "POST"]),
        Route("/api/memory/{fact_id}", api.fact, methods=["PATCH", "DELETE"]),
    ]


class _Calls:
    def __init__(self, state: CallState) -> None:
        self.state = state

    async def agents(self, request: Request) -> Response:
        return json_response(schema.AgentList(agents=self.state.agents))

    async def approvals(self, request: Request) -> Response:
        query = request.query_params
        states, run_id = query.getlist("state"), query.get("run_id", "")
        of_run = [call for call in self.state.calls.values() if run_id in ("", call.run_id)]
        waiting = [call for call in of_run if call.waiting]
        shown = [call for call in of_run if call.state in states] if states else waiting
        unknown = sum(call.state == "unknown" for call in waiting)
        counts = approval_schema.ApprovalCounts(pending=len(waiting) - unknown, unknown=unknown)
        return json_response(approval_schema.ApprovalList(approvals=[_approval(call) for call in shown], counts=counts))

    async def card(self, request: Request) -> Response:
        call = self.state.calls[request.path_params["call_id"]]
        facts = approval_schema.ToolFacts(
            description="Set the memory limit of a deployment.", input_schema=SCHEMA, idempotent=True,
            timeout_seconds=60, changed=False,
        )  # fmt: skip
        card = approval_schema.ApprovalCard(
            approval=_approval(call), tool=facts, runner=None, started_at=None, finished_at=None,
            result_text=call.result_text, result_structured=None, audit=[_line(1, call, "proposed")],
        )  # fmt: skip
        return json_response(card)

    async def decide(self, request: Request) -> Response:
        call_id = request.path_params["call_id"]
        body = approval_schema.DecisionRequest.model_validate_json(await request.body())
        call = self.state.calls[call_id]
        if not call.waiting:
            return problem(
                409, "approval_decided", f"The call was decided before: {call.decision} by {call.decided_by}."
            )
        if body.arguments is not None and not isinstance(body.arguments.get("limit", ""), str):
            return problem(422, "arguments_invalid", "Argument 'limit' does not fit: 768 is not of type 'string'.")
        self.state.decisions.append((call_id, body))
        state = "rejected" if body.decision in ("reject", "respond") else "pending"
        update: dict[str, Any] = {
            "decision": body.decision, "decided_by": "local", "decision_reason": body.reason, "state": state,
        }  # fmt: skip
        if body.arguments is not None:
            update |= {"arguments": body.arguments, "original_arguments": call.arguments}
        await self._change(call.model_copy(update=update))
        return json_response(_approval(self.state.calls[call_id]))

    async def settle(self, request: Request) -> Response:
        call_id = request.path_params["call_id"]
        body = approval_schema.SettlementRequest.model_validate_json(await request.body())
        self.state.settlements.append((call_id, body))
        state = {"happened": "done", "did_not_happen": "failed", "try_again": "pending"}[body.settlement]
        await self._change(self.state.calls[call_id].model_copy(update={"state": state}))
        return json_response(_approval(self.state.calls[call_id]))

    async def reject_run(self, request: Request) -> Response:
        body = approval_schema.RejectRunRequest.model_validate_json(await request.body())
        waiting = [call for call in self.state.calls.values() if call.run_id == body.run_id and call.waiting]
        for call in waiting:
            update = {"decision": "reject", "decided_by": "local", "state": "rejected"}
            await self._change(call.model_copy(update=update))
        counts = approval_schema.ApprovalCounts(pending=0, unknown=0)
        return json_response(
            approval_schema.ApprovalList(approvals=[_approval(call) for call in waiting], counts=counts)
        )

    async def audit(self, request: Request) -> Response:
        if request.query_params.get("format") == "csv":
            return PlainTextResponse("entry,at,actor,event,call_id,detail\r\n1,x,local,decided,c,{}\r\n")
        lines = [_line(entry, call, "proposed") for entry, call in enumerate(self.state.calls.values(), start=1)]
        return json_response(approval_schema.AuditTrail(entries=lines, next=None))

    async def grants(self, request: Request) -> Response:
        return json_response(approval_schema.GrantList(grants=self.state.grants))

    async def revoke(self, request: Request) -> Response:
        grant_id = request.path_params["grant_id"]
        self.state.grants = [grant for grant in self.state.grants if grant.grant_id != grant_id]
        return Response(status_code=204)

    async def tools(self, request: Request) -> Response:
        return json_response(tool_schema.ToolListing(servers=self.state.servers, tools=self.state.tools))

    async def review(self, request: Request) -> Response:
        body = tool_schema.ToolReview.model_validate_json(await request.body())
        tool = self._tool(body.server, body.tool)
        if tool.fingerprint != body.fingerprint:
            return problem(409, "arguments_changed", f"The tool {body.tool!r} changed meanwhile; look at it again.")
        update = {"state": "offered" if body.accept else "disabled", "reviewed_by": "local", "reviewed_at": AT}
        return json_response(self._put(tool.model_copy(update=update)))

    async def switch(self, request: Request) -> Response:
        body = tool_schema.ToolSwitch.model_validate_json(await request.body())
        tool = self._tool(body.server, body.tool)
        return json_response(self._put(tool.model_copy(update={"state": "offered" if body.enabled else "disabled"})))

    async def restart(self, request: Request) -> Response:
        name = request.path_params["server"]
        self.state.restarts.append(name)
        index = next(place for place, server in enumerate(self.state.servers) if server.name == name)
        server = self.state.servers[index].model_copy(update={"state": "ready", "detail": "", "failures": 0})
        self.state.servers[index] = server
        return json_response(server)

    async def questions(self, request: Request) -> Response:
        return json_response(question_schema.QuestionList(questions=self.state.questions))

    async def answer(self, request: Request) -> Response:
        question_id = request.path_params["question_id"]
        if all(question.question_id != question_id for question in self.state.questions):
            return problem(404, "question_unknown", "This question is answered already, or its call has ended.")
        self.state.answers.append(question_schema.QuestionAnswer.model_validate_json(await request.body()))
        self.state.questions = []
        return Response(status_code=204)

    async def memory(self, request: Request) -> Response:
        if request.method == "GET":
            facts = sorted(self.state.facts.values(), key=lambda fact: not fact.pinned)
            return json_response(memory_schema.FactList(facts=facts, max_facts=200))
        body = memory_schema.FactCreate.model_validate_json(await request.body())
        fact_id = f"fact-{len(self.state.facts) + 1}"
        fact = Fact(fact_id=fact_id, text=body.text, pinned=body.pinned, created_at=AT, updated_at=AT)
        self.state.facts[fact_id] = fact
        return json_response(fact, 201)

    async def fact(self, request: Request) -> Response:
        fact_id = request.path_params["fact_id"]
        fact = self.state.facts[fact_id]
        if request.method == "DELETE":
            return json_response(self.state.facts.pop(fact_id))
        body = memory_schema.FactEdit.model_validate_json(await request.body())
        self.state.facts[fact_id] = fact.model_copy(update=body.model_dump(exclude_none=True))
        return json_response(self.state.facts[fact_id])

    async def _change(self, call: ToolCall) -> None:
        async with self.state.changed:
            self.state.calls[call.call_id] = call
            self.state.changed.notify_all()

    def _tool(self, server: str, tool: str) -> tool_schema.ToolInfo:
        return next(info for info in self.state.tools if (info.server, info.tool) == (server, tool))

    def _put(self, tool: tool_schema.ToolInfo) -> tool_schema.ToolInfo:
        index = next(place for place, info in enumerate(self.state.tools) if info.wire_name == tool.wire_name)
        self.state.tools[index] = tool
        return tool


def tool_info(tool: str, state: tool_schema.ToolState, **more: Any) -> tool_schema.ToolInfo:
    """A tool of the stand-in cluster."""
    definition: dict[str, JsonValue] = {"name": tool, "description": f"Does {tool}.", "inputSchema": SCHEMA}
    fields: dict[str, Any] = {
        "risk": "write", "risk_reason": "its server says that it changes something", "idempotent": False,
        "fingerprint": f"print-{tool}", "definition": definition, "reason": "",
    }  # fmt: skip
    return tool_schema.ToolInfo(server="cluster", tool=tool, wire_name=f"cluster__{tool}", state=state, **fields | more)


def server_info(name: str, state: tool_schema.ServerState, **more: Any) -> tool_schema.ServerInfo:
    """A server of the stand-in API."""
    fields: dict[str, Any] = {
        "transport": "stdio", "endpoint": "python samples/cluster_server.py", "trusted": True, "detail": "",
        "failures": 0, "retry_in_seconds": 0.0, "protocol_version": "2026-07-28", "software": f"{name} 1.0",
        "capabilities": ["tools"], "ignored_keys": [],
    }  # fmt: skip
    return tool_schema.ServerInfo(name=name, state=state, **fields | more)


def question(**more: Any) -> question_schema.Question:
    """A question of the stand-in cluster."""
    form: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "node": {"type": "string", "title": "Node", "description": "Which one to empty."},
            "minutes": {"type": "integer", "minimum": 1, "default": 5},
            "force": {"type": "boolean"},
            "reason": {"type": "string", "enum": ["repair", "upgrade"], "enumNames": ["Repair", "Upgrade"]},
        },
        "required": ["node", "reason"],
    }
    fields: dict[str, Any] = {
        "question_id": "q1", "server": "cluster", "tool": "drain_node", "call_id": "", "run_id": "run-1",
        "thread_id": "thread-1", "message": "Which node shall be emptied?", "mode": "form", "form": form, "url": "",
        "asked_at": AT, "expires_at": datetime.now(UTC) + timedelta(minutes=30),
    }  # fmt: skip
    return question_schema.Question(**fields | more)


def json_response(body: BaseModel, status: int = 200) -> Response:
    """A body on the wire."""
    return JSONResponse(body.model_dump(mode="json"), status_code=status)


def problem(status: int, code: schema.ProblemCode, detail: str) -> Response:
    """A refusal on the wire."""
    return json_response(schema.Problem(title=code, status=status, detail=detail, code=code), status)


def _approval(call: ToolCall) -> approval_schema.Approval:
    shared = call.model_dump(include=set(approval_schema.Approval.model_fields))
    return approval_schema.Approval(
        **shared,
        risk_reason="It changes something." if call.risk == "write" else "What it does cannot be undone.",
        waiting=call.waiting,
        grantable=call.risk != "destructive",
    )


def _line(entry: int, call: ToolCall, event: str) -> approval_schema.AuditLine:
    return approval_schema.AuditLine(
        entry=entry, call_id=call.call_id, at=AT, actor="policy", event=event, detail={"tool": call.tool}
    )
