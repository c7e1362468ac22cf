"""How an approval looks in a terminal: drawn from what is stored, never from words that the model chose for it.

Every text of a card may come from a model, a document or a server: it is shown as it is written, without markup, and
what would steer a terminal is spelt out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app.cli import output

if TYPE_CHECKING:
    from datetime import datetime

    from pydantic import JsonValue
    from rich.table import Table
    from rich.text import Text

    from app.approval_schema import Approval, ApprovalCard, GrantInfo

SEEN_CHARACTERS = 12
"""Characters of the hash that stand for it on the command line."""
_ROW_CHARACTERS = 60
_RISK_STYLES = {"read": "green", "write": "yellow", "egress": "yellow", "destructive": "bold red", "unknown": "magenta"}


def print_list(approvals: list[Approval]) -> None:
    """One line an approval."""
    table = _table("id", "state", "risk", "tool", "arguments", "expires", "chat")
    for item in approvals:
        arguments = json.dumps(item.arguments, ensure_ascii=False)
        short = arguments if len(arguments) <= _ROW_CHARACTERS else f"{arguments[: _ROW_CHARACTERS - 1]}…"
        cells = (item.call_id, item.state, item.risk, _tool(item), short, _time(item.expires_at), item.thread_id)
        table.add_row(*map(cell, cells))
    output.results().print(table)


def print_card(card: ApprovalCard) -> None:
    """Everything about one call."""
    from rich.text import Text

    item, console = card.approval, output.results()
    console.print(Text(plain(_tool(item)), style="bold"), Text(f"[{item.risk}]", style=_RISK_STYLES[item.risk]))
    console.print(f"{item.risk_reason} {_standing(card)}")
    arguments = _table("argument", "value", *(["the model's"] if item.original_arguments is not None else []))
    names: set[str] = {*item.arguments, *(item.original_arguments or {})}
    for name in sorted(names):
        values = [item.arguments] if item.original_arguments is None else [item.arguments, item.original_arguments]
        arguments.add_row(cell(name), *(cell(_value(given, name)) for given in values))
    console.print(arguments)
    about = _table("", "")
    for name, value in _about(card):
        if value:
            about.add_row(name, cell(value))
    about.show_header = False
    console.print(about)
    trail = _table("when", "who", "what", "detail")
    for line in card.audit:
        detail = ", ".join(f"{name}: {value}" for name, value in line.detail.items() if value and name != "arguments")
        trail.add_row(_time(line.at), cell(line.actor), line.event, cell(detail))
    console.print(trail)


def print_grants(grants: list[GrantInfo]) -> None:
    """One line a grant."""
    table = _table("id", "tool", "holds in", "where", "given by", "since")
    for grant in grants:
        where = ", ".join(f"{name}={glob}" for name, glob in grant.arguments.items()) or "any arguments"
        scope = f"chat {grant.thread_id}" if grant.thread_id else "every chat"
        cells = (grant.grant_id, f"{grant.server}: {grant.tool}", scope, where, grant.granted_by)
        table.add_row(*map(cell, cells), _time(grant.granted_at))
    output.results().print(table)


def plain(text: str) -> str:
    """Text with controls, escapes and marks of direction spelt out: nothing in it steers a terminal."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode() for char in text
    )


def seen_mark(approval: Approval) -> str:
    """What stands for the arguments' hash on the command line."""
    return approval.arguments_hash[:SEEN_CHARACTERS]


def cell(text: str) -> Text:
    """The same for Rich, which reads markup out of strings and not out of ``Text``."""
    from rich.text import Text

    return Text(plain(text))


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _tool(item: Approval) -> str:
    return f"{item.server}: {item.tool}"


def _standing(card: ApprovalCard) -> str:
    item = card.approval
    if item.state == "unknown":
        return "It was started and nobody knows whether it happened: settle it."
    if not item.waiting:
        return f"It is {item.state}."
    if card.tool is None:
        return "Its tool is not on offer now: it would not run."
    return "Its tool changed since it was proposed: it would not run." if card.tool.changed else "It waits for you."


def _about(card: ApprovalCard) -> list[tuple[str, str]]:
    item = card.approval
    decided = f"{item.decision} by {item.decided_by} at {_time(item.decided_at)}" if item.decision else ""
    return [
        ("policy", item.policy_reason),
        ("led to by", item.motive),
        ("untrusted text", item.taint_source),
        ("decided", decided),
        ("reason", item.decision_reason or ""),
        ("expires", _time(item.expires_at) if item.waiting else ""),
        ("result", card.result_text or ""),
        ("chat, run", f"{item.thread_id}, {item.run_id}"),
        ("id", item.call_id),
        ("seen", seen_mark(item) if item.waiting else ""),
    ]


def _value(arguments: dict[str, JsonValue], name: str) -> str:
    if name not in arguments:
        return ""
    value = arguments[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _time(at: datetime | None) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}" if at else ""
