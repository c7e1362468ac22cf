"""``groundwork approvals``: what agents want to do, and what you say to it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from app.cli import output
from app.cli.approval_card import SEEN_CHARACTERS, cell, plain, print_card, print_list, seen_mark
from app.cli.invocation import current, parse_request

if TYPE_CHECKING:
    from pydantic import JsonValue

    from app.approval_schema import Approval, ApprovalCard, AuditLine, DecisionRequest
    from app.client import ApiClient

commands = typer.Typer(help="See, decide and settle what agents want to do.", no_args_is_help=True)

CallId = Annotated[str, typer.Argument(metavar="ID", help="Id of the call, from approvals list.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Seen = Annotated[
    str, typer.Option(metavar="MARK", help="The mark `seen` of the card you looked at; without it you are shown it.")
]
Reason = Annotated[str, typer.Option(help="Why; the model and the audit get it.")]
Grant = Annotated[bool, typer.Option("--for-this-chat", help="Do not ask for this tool again in this chat.")]
Patterns = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="NAME=GLOB", help="Do not ask again in this chat where arguments match."),
]


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[
        list[str] | None, typer.Option(help="The newest calls in this state; may be given several times.")
    ] = None,
    thread: Annotated[str, typer.Option(metavar="ID", help="Of this chat alone.")] = "",
    as_json: AsJson = False,
) -> None:
    """List what waits for a person: calls to decide, unknown outcomes to settle.

    Example: groundwork approvals list
    """
    listing = current(context).call(lambda client: client.approvals(states=state or (), thread_id=thread))
    if as_json:
        output.write_json(listing)
        return
    if listing.approvals:
        print_list(listing.approvals)
    counts = listing.counts
    output.write_text(f"{counts.pending} to decide, {counts.unknown} to settle.\n")


@commands.command()
def show(context: typer.Context, call_id: CallId, as_json: AsJson = False) -> None:
    """Show everything about a call: arguments, risk, what led to it, the policy line, who did what.

    Example: groundwork approvals show 8d0c...
    """
    card = current(context).call(lambda client: client.approval(call_id))
    output.write_json(card) if as_json else print_card(card)


@commands.command()
def approve(
    context: typer.Context,
    call_id: CallId,
    seen: Seen = "",
    for_this_chat: Grant = False,
    where: Patterns = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Let a call run exactly as its card shows it.

    Shows the card and asks; in a script, pass the mark `seen` that the card ends with.

    Example: groundwork approvals approve 8d0c... --seen 3f9a1c2b0d1e
    """
    patterns = dict(_split(pair, "--where") for pair in where or ())
    if for_this_chat and patterns:
        raise typer.BadParameter("choose one of --for-this-chat and --where.")
    grant = "chat" if for_this_chat else "arguments" if patterns else "none"

    def request(card: ApprovalCard) -> DecisionRequest:
        return _decision(card, decision="approve", reason=reason, grant=grant, patterns=patterns)

    _decide_seen(context, call_id, request, seen=seen, as_json=as_json, question="Approve this call?")


@commands.command()
def edit(
    context: typer.Context,
    call_id: CallId,
    arguments: Annotated[str, typer.Option(metavar="JSON", help="All arguments as JSON, or @FILE.")] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change one argument; VALUE is JSON or text."),
    ] = None,
    seen: Seen = "",
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Let a call run with other arguments; they are held against the tool's schema, the model's own are kept.

    Example: groundwork approvals edit 8d0c... --set limit=512Mi --seen 3f9a1c2b0d1e
    """
    if bool(arguments) == bool(set_):
        raise typer.BadParameter("give the new arguments with --arguments or with --set.")
    changes = {name: _json_or_text(value) for name, value in (_split(pair, "--set") for pair in set_ or ())}
    whole = _arguments(arguments) if arguments else None

    def request(card: ApprovalCard) -> DecisionRequest:
        given = whole if whole is not None else card.approval.arguments | changes
        return _decision(card, decision="edit", reason=reason, arguments=given)

    question = f"Run it with {plain(json.dumps(whole if whole is not None else changes, ensure_ascii=False))}?"
    _decide_seen(context, call_id, request, seen=seen, as_json=as_json, question=question)


@commands.command()
def reject(
    context: typer.Context,
    call_id: Annotated[str, typer.Argument(metavar="[ID]", help="Id of the call, from approvals list.")] = "",
    run: Annotated[str, typer.Option(metavar="ID", help="Reject every undecided call of this run instead.")] = "",
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Do not let a call run; the model is told the reason.

    Example: groundwork approvals reject 8d0c... --reason "not before the release"
    """
    if bool(call_id) == bool(run):
        raise typer.BadParameter("name one call, or a run with --run.")
    if run:
        _reject_run(context, run, reason, as_json)
        return
    _decide(context, call_id, lambda card: _decision(card, decision="reject", reason=reason), as_json)


@commands.command()
def respond(
    context: typer.Context,
    call_id: CallId,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="What the model gets as the tool's result.")],
    as_json: AsJson = False,
) -> None:
    """Answer in the tool's place; the tool does not run.

    Example: groundwork approvals respond 8d0c... "It runs with two replicas."
    """
    _decide(context, call_id, lambda card: _decision(card, decision="respond", reason=answer), as_json)


@commands.command()
def settle(
    context: typer.Context,
    call_id: CallId,
    outcome: Annotated[str, typer.Argument(metavar="happened|did-not-happen|try-again", help="What became of it.")],
    note: Annotated[str, typer.Option(help="How you know; the model and the audit get it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Say what became of a call whose outcome is unknown; try-again makes it wait for a fresh approval.

    Example: groundwork approvals settle 8d0c... happened --note "the dashboard shows it"
    """
    from app.approval_schema import SettlementRequest

    request = parse_request(SettlementRequest, settlement=outcome.replace("-", "_"), note=note)
    _print(current(context).call(lambda client: client.settle(call_id, request)), as_json)


@commands.command()
def audit(
    context: typer.Context,
    format_: Annotated[
        Literal["text", "json", "csv"],
        typer.Option("--format", help="Lines for people, JSON, or CSV for spreadsheets."),
    ] = "text",
    since: Annotated[datetime | None, typer.Option(help="Lines from this time on, local time.")] = None,
) -> None:
    """Export who did what to which call, when, under which policy line; oldest first.

    Example: groundwork approvals audit --since 2026-11-01 --format csv
    """
    start = since.astimezone(UTC) if since else None

    async def export(client: ApiClient) -> None:
        if format_ == "csv":
            async for text in client.audit_csv(since=start):
                output.write_text(text)
            return
        entries = [line async for line in _all_lines(client, start)]
        if format_ == "json":
            from app.approval_schema import AuditTrail

            output.write_json(AuditTrail(entries=entries, next=None))
            return
        for line in entries:
            detail = json.dumps(line.detail, ensure_ascii=False)
            at = f"{line.at.astimezone():%Y-%m-%d %H:%M:%S}"
            output.results().print(cell(f"{at}  {line.actor}  {line.event}  {line.call_id}  {detail}"), soft_wrap=True)

    current(context).call(export)


def _reject_run(context: typer.Context, run_id: str, reason: str, as_json: bool) -> None:
    from app.approval_schema import RejectRunRequest

    request = parse_request(RejectRunRequest, run_id=run_id, reason=reason)
    rejected = current(context).call(lambda client: client.reject_run(request))
    if as_json:
        output.write_json(rejected)
    else:
        output.write_text(f"{len(rejected.approvals)} calls rejected.\n")


def _decide(
    context: typer.Context, call_id: str, request: Callable[[ApprovalCard], DecisionRequest], as_json: bool
) -> None:
    """Decide without a look: nothing runs by it."""

    async def decide(client: ApiClient) -> Approval:
        return await client.decide(call_id, request(await client.approval(call_id)))

    _print(current(context).call(decide), as_json)


def _decide_seen(
    context: typer.Context,
    call_id: str,
    request: Callable[[ApprovalCard], DecisionRequest],
    *,
    seen: str,
    as_json: bool,
    question: str,
) -> None:
    """Decide what lets a call run: never without its card, shown here or, by its mark, before."""
    if seen and len(seen) < SEEN_CHARACTERS:
        raise typer.BadParameter(f"the mark of a card has {SEEN_CHARACTERS} characters.", param_hint="--seen")
    if not seen and (as_json or not (sys.stdin.isatty() and sys.stdout.isatty())):
        raise typer.BadParameter(
            "nothing is approved unseen: look with `groundwork approvals show` and pass the mark `seen` of the card.",
            param_hint="--seen",
        )

    async def decide(client: ApiClient) -> Approval:
        card = await client.approval(call_id)
        if seen and not card.approval.arguments_hash.startswith(seen):
            raise typer.BadParameter(
                f"the card now ends with {seen_mark(card.approval)}: its arguments are not the ones you saw.",
                param_hint="--seen",
            )
        body = request(card)
        if not seen:
            print_card(card)
            typer.confirm(question, abort=True)
        return await client.decide(call_id, body)

    _print(current(context).call(decide), as_json)


def _decision(card: ApprovalCard, **fields: object) -> DecisionRequest:
    from app.approval_schema import DecisionRequest

    return parse_request(DecisionRequest, seen_hash=card.approval.arguments_hash, **fields)


def _print(approval: Approval, as_json: bool) -> None:
    if as_json:
        output.write_json(approval)
        return
    said = f", {approval.decision} by {approval.decided_by}" if approval.decision else ""
    output.write_text(f"{plain(approval.tool)} ({approval.call_id}) is {approval.state}{plain(said)}.\n")


async def _all_lines(client: ApiClient, since: datetime | None) -> AsyncGenerator[AuditLine]:
    after: int | None = 0
    while after is not None:
        page = await client.audit(since=since, after=after)
        after = page.next
        for line in page.entries:
            yield line


def _split(pair: str, option: str) -> tuple[str, str]:
    name, separator, value = pair.partition("=")
    if not separator or not name.strip():
        raise typer.BadParameter(f"{pair!r} is not NAME=VALUE.", param_hint=option)
    return name.strip(), value


def _json_or_text(value: str) -> JsonValue:
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _arguments(text: str) -> dict[str, JsonValue]:
    written = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    try:
        value: object = json.loads(written)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"not valid JSON ({error.msg}).", param_hint="--arguments") from error
    if not isinstance(value, dict):
        raise typer.BadParameter("not a JSON object.", param_hint="--arguments")
    return cast("dict[str, JsonValue]", value)
