from __future__ import annotations

import asyncio
import csv
import io
import socket
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents.testing import ScriptedChatModel
from app.approvals import ApprovalService
from app.cli.main import run
from app.client import ApiClient
from app.database import open_database
from app.serve import answering
from app.settings import Settings
from app.wiring import open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.command_line import CommandLine, one_sentence
from tests.tools.samples import RESTART, pending_call
from tools.calls import ToolCall
from tools.grants import GrantStore
from tools.ledger import ExecutionLedger
from tools.types import ToolSpec


async def find_tool(server: str, tool: str) -> ToolSpec | None:
    return RESTART.spec if (server, tool) == (RESTART.spec.server, RESTART.spec.name) else None


async def wake(run_id: str) -> None:
    """No run waits in these tests."""


@asynccontextmanager
async def platform_with_tool(settings: Settings) -> AsyncGenerator[ApiClient]:
    model = ScriptedChatModel(["Nothing is asked here."])
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=model) as opened:
        ledger, grants = ExecutionLedger(opened.engine), GrantStore(opened.engine)
        platform = replace(opened, approvals=ApprovalService(ledger, grants, find_tool=find_tool, wake=wake))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "api.sock"
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            async with (
                answering(settings, platform, listener),
                ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
            ):
                yield client


@pytest.fixture
def groundwork(settings: Settings) -> CommandLine:
    settings.home_path.mkdir()
    return CommandLine(settings.home_path, platform_with_tool)


@pytest.fixture
def on_ledger(settings: Settings) -> Callable[[Callable[[ExecutionLedger], Awaitable[ToolCall]]], ToolCall]:
    def on_ledger(work: Callable[[ExecutionLedger], Awaitable[ToolCall]]) -> ToolCall:
        async def with_database() -> ToolCall:
            async with open_database(settings) as engine:
                return await work(ExecutionLedger(engine))

        return asyncio.run(with_database())

    return on_ledger


OnLedger = Callable[[Callable[[ExecutionLedger], Awaitable[ToolCall]]], ToolCall]


@pytest.fixture
def call(groundwork: CommandLine, on_ledger: OnLedger) -> ToolCall:
    """A pending call whose words would steer a terminal and a renderer of markup."""
    now = datetime.now(UTC)
    words = {"motive": "[bold]Raise it.[/bold] \x1b[2J\u202e", "policy_reason": "policy line 2 says ask"}
    times = {"proposed_at": now, "expires_at": now + timedelta(hours=1)}
    return on_ledger(lambda ledger: ledger.propose(pending_call("c1").model_copy(update=words | times)))


def test_the_inbox_and_a_card_are_shown(groundwork: CommandLine, call: ToolCall) -> None:
    listed = groundwork("approvals", "list")
    assert listed.code == 0
    assert "restart_deployment" in listed.stdout
    assert listed.stdout.endswith("1 to decide, 0 to settle.\n")
    assert [item["call_id"] for item in groundwork("approvals", "list", "--json").json["approvals"]] == ["c1"]
    card = groundwork("approvals", "show", "c1")
    assert call.arguments_hash[:12] in card.stdout
    assert "policy line 2 says ask" in card.stdout
    assert "[bold]Raise it.[/bold] \\x1b[2J\\u202e" in card.stdout
    assert groundwork("approvals", "show", "c1", "--json").json["tool"]["changed"] is False


def test_nothing_is_approved_unseen(groundwork: CommandLine, call: ToolCall) -> None:
    for words in (["approve", "c1"], ["approve", "c1", "--json"], ["edit", "c1", "--set", "name=db"]):
        refused = groundwork("approvals", *words)
        assert (refused.code, one_sentence(refused.stderr)) == (2, True), refused
    for mark in ("f" * 12, call.arguments_hash[:8]):
        assert groundwork("approvals", "approve", "c1", "--seen", mark).code == 2
    assert groundwork("approvals", "list", "--json").json["counts"]["pending"] == 1


def test_the_mark_of_the_card_approves_once(groundwork: CommandLine, call: ToolCall) -> None:
    mark = call.arguments_hash[:12]
    approved = groundwork("approvals", "approve", "c1", "--seen", mark, "--where", "name=we*", "--json")
    assert (approved.code, approved.json["decision"], approved.json["decided_by"]) == (0, "approve", "local")
    second = groundwork("approvals", "reject", "c1")
    assert second.code == 2
    assert "decided by local (approve)" in second.stderr
    [grant] = groundwork("grants", "list", "--json").json["grants"]
    assert grant["arguments"] == {"name": "we*"}
    assert "name=we*" in groundwork("grants", "list").stdout
    assert groundwork("grants", "revoke", grant["grant_id"]).code == 0
    assert groundwork("grants", "revoke", grant["grant_id"]).code == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code", "decision"), [("y\n", 0, "approve"), ("n\n", 130, None)])
def test_a_person_at_a_terminal_is_shown_the_card_and_asked(
    groundwork: CommandLine, call: ToolCall, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, decision: str
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    with redirect_stdout(screen):
        ended = run(["--home", str(groundwork.home), "approvals", "approve", "c1"], connect=groundwork.connect)
    assert ended == code
    assert "\x1b[2J" not in screen.getvalue()
    assert screen.getvalue().index("policy line 2 says ask") < screen.getvalue().index("Approve this call?")
    monkeypatch.undo()
    shown = groundwork("approvals", "show", "c1", "--json").json["approval"]
    assert shown["decision"] == decision


def test_an_edit_changes_what_it_names_and_is_checked(groundwork: CommandLine, call: ToolCall, tmp_path: Path) -> None:
    mark = call.arguments_hash[:12]
    wrong = groundwork("approvals", "edit", "c1", "--set", "replicas=many", "--seen", mark)
    assert wrong.code == 2
    assert "'replicas'" in wrong.stderr
    edited = groundwork("approvals", "edit", "c1", "--set", "replicas=3", "--seen", mark, "--json")
    assert edited.json["arguments"] == {"name": "web", "replicas": 3}
    assert "the model's" in groundwork("approvals", "show", "c1").stdout


def test_arguments_come_whole_from_a_file(groundwork: CommandLine, call: ToolCall, tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    mark = call.arguments_hash[:12]
    for text in ("[]", "{"):
        file.write_text(text, encoding="utf-8")
        assert groundwork("approvals", "edit", "c1", "--arguments", f"@{file}", "--seen", mark).code == 2
    file.write_text('{"name": "db"}', encoding="utf-8")
    assert groundwork("approvals", "edit", "c1", "--arguments", f"@{file}", "--seen", mark).code == 0


def test_a_run_is_rejected_whole_and_a_call_answered(
    groundwork: CommandLine, call: ToolCall, on_ledger: OnLedger
) -> None:
    on_ledger(lambda ledger: ledger.propose(call.model_copy(update={"call_id": "c2"})))
    assert groundwork("approvals", "respond", "c2", "Two replicas.", "--json").json["state"] == "done"
    assert groundwork("approvals", "reject").code == 2
    assert groundwork("approvals", "reject", "--run", "run-1", "--reason", "no").stdout == "1 calls rejected.\n"
    listed = groundwork("approvals", "list", "--state", "rejected", "--json").json["approvals"]
    assert [(item["call_id"], item["decision_reason"]) for item in listed] == [("c1", "no")]


def test_an_unknown_outcome_is_settled(groundwork: CommandLine, call: ToolCall, on_ledger: OnLedger) -> None:
    async def lose(ledger: ExecutionLedger) -> ToolCall:
        await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")
        await ledger.start("c1", runner="dead")
        await ledger.mark_unknown("c1", runner="dead", why="killed")
        return await ledger.get("c1")

    on_ledger(lose)
    assert groundwork("approvals", "list").stdout.endswith("0 to decide, 1 to settle.\n")
    assert groundwork("approvals", "settle", "c1", "maybe").code == 2
    assert groundwork("approvals", "settle", "c1", "did-not-happen", "--json").json["state"] == "failed"
    assert groundwork("approvals", "settle", "c1", "happened").code == 2


def test_the_audit_is_exported_in_three_forms(groundwork: CommandLine, call: ToolCall) -> None:
    groundwork("approvals", "reject", "c1", "--reason", "no")
    assert [line["event"] for line in groundwork("approvals", "audit", "--format", "json").json["entries"]] == [
        "proposed",
        "decided",
    ]
    rows = list(csv.DictReader(io.StringIO(groundwork("approvals", "audit", "--format", "csv").stdout)))
    assert [row["event"] for row in rows] == ["proposed", "decided"]
    assert len(groundwork("approvals", "audit").stdout.splitlines()) == 2
    assert groundwork("approvals", "audit", "--since", "2999-01-01").stdout == ""


def test_an_unknown_id_is_one_sentence(groundwork: CommandLine) -> None:
    missing = groundwork("approvals", "show", "nope/../x")
    assert (missing.code, one_sentence(missing.stderr)) == (2, True)
