from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.approval_schema import ApprovalCard, ApprovalList, AuditTrail
from app.approvals import ApprovalService
from app.main import create_app
from app.settings import ServerSettings, Settings
from app.wiring import Platform
from tests.tools.samples import RESTART, pending_call
from tools.calls import ToolCall
from tools.grants import GrantStore
from tools.ledger import ExecutionLedger
from tools.types import Risk, ToolSpec


@dataclass
class Desk:
    """The approvals of an API, with the tool that the calls are for and the runs that were woken."""

    http: httpx.AsyncClient
    ledger: ExecutionLedger
    woken: list[str]
    offered: list[ToolSpec] = field(default_factory=lambda: [RESTART.spec])

    async def propose(self, call_id: str = "c1", *, risk: Risk = "write", run_id: str = "run-1") -> ToolCall:
        now = datetime.now(UTC)
        times = {"proposed_at": now, "expires_at": now + timedelta(hours=1)}
        about = {"motive": "The pod was OOMKilled.", "taint_source": "handbook.md", "policy_reason": "policy line 2"}
        changes = times | about | {"risk": risk, "run_id": run_id}
        return await self.ledger.propose(pending_call(call_id).model_copy(update=changes))

    async def lose(self, call_id: str = "c1") -> ToolCall:
        """The call with an unknown outcome."""
        call = await self.propose(call_id)
        await self.ledger.decide(call_id, "approve", seen_hash=call.arguments_hash, actor="ana")
        await self.ledger.start(call_id, runner="dead")
        await self.ledger.mark_unknown(call_id, runner="dead", why="its runner died")
        return await self.ledger.get(call_id)

    async def decide(self, call: ToolCall, decision: str, **fields: object) -> httpx.Response:
        body = {"decision": decision, "seen_hash": call.arguments_hash} | fields
        return await self.http.post(f"/api/approvals/{call.call_id}/decision", json=body)

    async def list(self, **query: str) -> ApprovalList:
        return ApprovalList.model_validate_json((await self.http.get("/api/approvals", params=query)).content)


@pytest.fixture
async def desk(settings: Settings, platform: Platform) -> AsyncGenerator[Desk]:
    ledger, woken = ExecutionLedger(platform.engine), list[str]()

    async def find_tool(server: str, tool: str) -> ToolSpec | None:
        return next((spec for spec in made.offered if (spec.server, spec.name) == (server, tool)), None)

    async def wake(run_id: str) -> None:
        woken.append(run_id)

    approvals = ApprovalService(ledger, GrantStore(platform.engine), find_tool=find_tool, wake=wake)
    app = create_app(settings, platform=replace(platform, approvals=approvals))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://localhost"
    ) as http:
        made = Desk(http, ledger, woken)
        yield made


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "")


async def test_the_inbox_shows_what_waits_with_all_that_is_stored(desk: Desk) -> None:
    call = await desk.propose("c1")
    await desk.lose("c2")
    done = await desk.propose("c3")
    assert (await desk.decide(done, "reject", reason="no")).status_code == 200
    inbox = await desk.list()
    assert [(item.call_id, item.state, item.waiting) for item in inbox.approvals] == [
        ("c1", "pending", True),
        ("c2", "unknown", True),
    ]
    assert (inbox.counts.pending, inbox.counts.unknown) == (1, 1)
    shown = inbox.approvals[0]
    assert (shown.arguments, shown.arguments_hash) == (call.arguments, call.arguments_hash)
    assert (shown.motive, shown.taint_source, shown.policy_reason) == (
        "The pod was OOMKilled.",
        "handbook.md",
        "policy line 2",
    )
    assert [item.call_id for item in (await desk.list(state="rejected")).approvals] == ["c3"]
    assert (await desk.list(thread_id="other")).counts.pending == 0


async def test_a_card_has_the_schema_and_the_audit_and_says_when_the_tool_changed(desk: Desk) -> None:
    await desk.propose("c1")
    card = ApprovalCard.model_validate_json((await desk.http.get("/api/approvals/c1")).content)
    assert card.tool is not None
    assert (card.tool.input_schema, card.tool.changed) == (RESTART.spec.input_schema, False)
    assert [line.event for line in card.audit] == ["proposed"]
    desk.offered = [replace(RESTART.spec, fingerprint="another")]
    assert (await desk.http.get("/api/approvals/c1")).json()["tool"]["changed"]
    desk.offered = []
    assert (await desk.http.get("/api/approvals/c1")).json()["tool"] is None
    assert code(await desk.http.get("/api/approvals/nope")) == (404, "approval_unknown")


async def test_the_first_decision_stands_and_the_second_is_told_whose_it_was(desk: Desk) -> None:
    call = await desk.propose()
    assert (await desk.decide(call, "approve")).json()["decided_by"] == "local"
    second = await desk.decide(call, "reject")
    assert code(second) == (409, "approval_decided")
    assert "decided by local (approve)" in second.json()["detail"]
    assert (await desk.ledger.get("c1")).decision == "approve"
    assert desk.woken == ["run-1"]


async def test_a_decision_on_arguments_that_were_not_seen_is_refused(desk: Desk) -> None:
    call = await desk.propose()
    assert code(await desk.decide(call, "approve", seen_hash="0" * 64)) == (409, "arguments_changed")
    assert (await desk.ledger.get("c1")).waiting


async def test_an_edit_is_held_against_the_schema_and_the_refusal_names_the_argument(desk: Desk) -> None:
    call = await desk.propose()
    wrong = await desk.decide(call, "edit", arguments={"name": "web", "replicas": "many"})
    assert code(wrong) == (422, "arguments_invalid")
    assert "'replicas'" in wrong.json()["detail"]
    desk.offered = []
    edit = {"name": "web", "replicas": 2}
    assert code(await desk.decide(call, "edit", arguments=edit)) == (409, "tool_not_offered")
    desk.offered = [RESTART.spec]
    edited = (await desk.decide(call, "edit", arguments=edit)).json()
    assert (edited["arguments"], edited["original_arguments"]) == (edit, call.arguments)


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "edit"},
        {"decision": "approve", "arguments": {"name": "web"}},
        {"decision": "respond"},
        {"decision": "reject", "grant": "chat"},
        {"decision": "approve", "grant": "arguments"},
        {"decision": "approve", "patterns": {"name": "*"}},
        {"decision": "approve", "seen_hash": "short"},
        {"decision": "approve", "everything": True},
    ],
)
async def test_a_decision_that_contradicts_itself_is_refused(desk: Desk, body: dict[str, object]) -> None:
    call = await desk.propose()
    whole = {"seen_hash": call.arguments_hash} | body
    refused = await desk.http.post("/api/approvals/c1/decision", json=whole)
    assert code(refused) == (422, "request_invalid")
    assert (await desk.ledger.get("c1")).waiting


async def test_calls_of_one_turn_are_decided_alone_and_the_rest_of_the_run_rejected_at_once(desk: Desk) -> None:
    calls = [await desk.propose(f"c{number}") for number in range(4)]
    await desk.propose("elsewhere", run_id="run-2")
    await desk.decide(calls[0], "approve")
    await desk.decide(calls[1], "respond", reason="It runs with two replicas.")
    rest = await desk.http.post("/api/approvals/rejections", json={"run_id": "run-1", "reason": "stop"})
    assert [item["call_id"] for item in rest.json()["approvals"]] == ["c2", "c3"]
    states = {call.call_id: (call.state, call.result_text) for call in await desk.ledger.find()}
    assert states == {
        "c0": ("pending", None),
        "c1": ("done", "It runs with two replicas."),
        "c2": ("rejected", "stop"),
        "c3": ("rejected", "stop"),
        "elsewhere": ("pending", None),
    }
    assert desk.woken == ["run-1"] * 3


async def test_what_nobody_decided_in_time_is_expired_and_wakes_its_run(desk: Desk) -> None:
    call = await desk.propose("late")
    ended = call.model_copy(update={"call_id": "ended", "expires_at": call.proposed_at - timedelta(seconds=1)})
    await desk.ledger.propose(ended)
    assert [item.call_id for item in (await desk.list()).approvals] == ["late"]
    assert desk.woken == ["run-1"]
    assert code(await desk.decide(ended, "approve")) == (409, "approval_expired")


async def test_an_unknown_outcome_is_settled_once(desk: Desk) -> None:
    call = await desk.lose()
    body = {"settlement": "happened", "note": "The dashboard shows it."}
    settled = await desk.http.post("/api/approvals/c1/settlement", json=body)
    assert (settled.json()["state"], settled.json()["waiting"]) == ("done", False)
    assert code(await desk.http.post("/api/approvals/c1/settlement", json=body)) == (409, "approval_decided")
    assert (await desk.ledger.get("c1")).result_text == "The dashboard shows it."
    assert desk.woken == [call.run_id]


async def test_trying_again_needs_a_fresh_decision(desk: Desk) -> None:
    call = await desk.lose()
    again = await desk.http.post("/api/approvals/c1/settlement", json={"settlement": "try_again"})
    assert (again.json()["state"], again.json()["decision"], again.json()["waiting"]) == ("pending", None, True)
    assert not await desk.ledger.start("c1", runner="next")
    await desk.decide(call, "approve")
    assert await desk.ledger.start("c1", runner="next")


async def test_a_grant_given_with_an_approval_is_listed_until_it_is_revoked(desk: Desk) -> None:
    call = await desk.propose()
    missing = await desk.decide(call, "approve", grant="arguments", patterns={"name": "db*"})
    assert code(missing) == (422, "grant_refused")
    await desk.decide(call, "approve", grant="arguments", patterns={"name": "we*"})
    [grant] = (await desk.http.get("/api/grants")).json()["grants"]
    assert (grant["scope"], grant["arguments"], grant["thread_id"], grant["call_id"], grant["granted_by"]) == (
        "arguments",
        {"name": "we*"},
        "thread-1",
        "c1",
        "local",
    )
    assert (await desk.http.delete(f"/api/grants/{grant['grant_id']}")).status_code == 204
    assert code(await desk.http.delete(f"/api/grants/{grant['grant_id']}")) == (404, "grant_unknown")
    assert (await desk.http.get("/api/grants")).json() == {"grants": []}
    events = [line.event for line in await desk.ledger.audit(call_id="c1")]
    assert events == ["proposed", "decided", "granted", "revoked"]


async def test_destructive_calls_are_never_granted(desk: Desk) -> None:
    call = await desk.propose(risk="destructive")
    assert code(await desk.decide(call, "approve", grant="chat")) == (422, "grant_refused")
    assert (await desk.ledger.get("c1")).waiting
    assert (await desk.list()).approvals[0].grantable is False
    desk.offered = [replace(RESTART.spec, risk="destructive")]
    body = {"server": RESTART.spec.server, "tool": RESTART.spec.name, "thread_id": "thread-1"}
    assert code(await desk.http.post("/api/grants", json=body)) == (422, "grant_refused")


async def test_a_grant_without_a_card_needs_a_known_tool_and_a_bound(desk: Desk) -> None:
    body = {"server": RESTART.spec.server, "tool": RESTART.spec.name}
    assert code(await desk.http.post("/api/grants", json=body)) == (422, "grant_refused")
    given = await desk.http.post("/api/grants", json=body | {"arguments": {"name": "web-*"}})
    assert (given.status_code, given.json()["thread_id"], given.json()["scope"]) == (201, "", "arguments")
    assert code(await desk.http.post("/api/grants", json=body | {"tool": "nope"})) == (409, "tool_not_offered")


async def test_the_audit_is_exported_as_pages_of_json_and_as_one_csv(desk: Desk) -> None:
    before = datetime.now(UTC)
    call = await desk.propose("=c1")
    await desk.decide(call, "reject", reason="no, 'never'\nat night")
    page = AuditTrail.model_validate_json((await desk.http.get("/api/approvals/audit?limit=1")).content)
    assert ([line.event for line in page.entries], page.next) == (["proposed"], page.entries[0].entry)
    query = {"after": str(page.next), "limit": "5", "since": before.isoformat()}
    rest = AuditTrail.model_validate_json((await desk.http.get("/api/approvals/audit", params=query)).content)
    assert ([(line.event, line.actor) for line in rest.entries], rest.next) == ([("decided", "local")], None)
    assert rest.entries[0].detail["policy"] == "policy line 2"
    exported = await desk.http.get("/api/approvals/audit", params={"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert [(row["event"], row["call_id"]) for row in rows] == [("proposed", "'=c1"), ("decided", "'=c1")]
    assert "never" in rows[1]["detail"]


async def test_deleting_a_thread_rejects_what_waits_in_it(platform: Platform, http: httpx.AsyncClient) -> None:
    thread = (await http.post("/api/threads", json={})).json()["thread_id"]
    ledger = ExecutionLedger(platform.engine)
    now = datetime.now(UTC)
    await ledger.propose(
        pending_call("c1").model_copy(
            update={"thread_id": thread, "proposed_at": now, "expires_at": now + timedelta(hours=1)}
        )
    )
    assert (await http.delete(f"/api/threads/{thread}")).status_code == 204
    assert (await ledger.get("c1")).state == "rejected"


@dataclass(frozen=True)
class Proxied:
    """An API behind a proxy that names people, as a client at some address meets it."""

    settings: Settings
    platform: Platform

    async def decide(self, *, address: str, headers: dict[str, str]) -> httpx.Response:
        call = await ExecutionLedger(self.platform.engine).get("c1")
        app = create_app(self.settings, platform=self.platform)
        transport = httpx.ASGITransport(app, client=(address, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            body = {"decision": "approve", "seen_hash": call.arguments_hash}
            return await http.post("/api/approvals/c1/decision", json=body, headers=headers)


@pytest.fixture
async def proxied(settings: Settings, platform: Platform) -> Proxied:
    server = ServerSettings.model_validate({"user_header": "X-Forwarded-User", "trusted_proxies": "10.1.0.0/16"})
    behind = settings.model_copy(update={"server": server})
    now = datetime.now(UTC)
    times = {"proposed_at": now, "expires_at": now + timedelta(hours=1)}
    await ExecutionLedger(platform.engine).propose(pending_call("c1").model_copy(update=times))
    return Proxied(behind, replace(platform, settings=behind))


async def test_a_trusted_proxy_names_who_decides(proxied: Proxied) -> None:
    decided = await proxied.decide(address="10.1.2.3", headers={"X-Forwarded-User": "ana@example.org"})
    assert decided.json()["decided_by"] == "ana@example.org"


async def test_the_holder_of_the_local_token_needs_no_proxy(proxied: Proxied) -> None:
    headers = {"X-Groundwork-Token": proxied.platform.local_token}
    assert (await proxied.decide(address="127.0.0.1", headers=headers)).json()["decided_by"] == "local"


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("192.168.0.9", {"X-Forwarded-User": "ana"}),
        ("10.1.2.3", {}),
        ("10.1.2.3", {"X-Forwarded-User": "policy"}),
        ("10.1.2.3", {"X-Groundwork-Token": "guessed"}),
    ],
)
async def test_a_decision_of_nobody_is_refused(proxied: Proxied, address: str, headers: dict[str, str]) -> None:
    assert code(await proxied.decide(address=address, headers=headers)) == (403, "user_unknown")
    assert (await ExecutionLedger(proxied.platform.engine).get("c1")).waiting
