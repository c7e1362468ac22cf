"""What a terminal shows of a run at work, and the decisions that a person makes there and then."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import typer

from app.cli import output
from app.cli.approval_card import plain, print_card

if TYPE_CHECKING:
    from agents.events import RunEvent, ToolCalled, ToolReturned
    from agents.picture_record import GivenPicture
    from app.approval_schema import ApprovalCard
    from app.client import ApiClient

SHOWN_CHARACTERS = 200
CHOICES = "a = approve, r = reject, l = leave it for later"


def tell(event: RunEvent) -> None:
    """A line on stderr for what an agent does, what a search lost and what a model is given; nothing for the rest."""
    match event.type:
        case "tool_called":
            output.write_error(_called(event))
        case "tool_returned":
            output.write_error(_returned(event))
        case "step_started" if event.task:
            output.write_error(f"{event.agent}: {_short(event.task)}")
        case "answer_reviewed":
            verdict = "approved" if event.approved else f"sent back: {_short(event.remark)}"
            output.write_error(f"{event.reviewer} {verdict}")
        case "search_warned":
            output.write_error(plain(f"Warning: {event.detail}"))
        case "pictures_given":
            for picture in event.pictures:
                output.write_error(plain(_given(picture)))
        case _:
            pass


async def decide_here(client: ApiClient, call_ids: tuple[str, ...]) -> bool:
    """Ask about every waiting call at this terminal; False when one is left for later or nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for call_id in call_ids:
        card = await client.approval(call_id)
        if not card.approval.waiting:
            continue
        print_card(card)
        if card.approval.state != "pending" or not await _decide(client, card):
            return False
    return True


async def _decide(client: ApiClient, card: ApprovalCard) -> bool:
    from app.approval_schema import DecisionRequest
    from app.errors import ApiProblem

    while True:
        answer = (await asyncio.to_thread(typer.prompt, f"{card.approval.tool}: {CHOICES}", err=True)).strip().lower()
        if answer in ("l", "leave"):
            return False
        if answer in ("a", "approve", "r", "reject"):
            break
    decision = "approve" if answer.startswith("a") else "reject"
    request = DecisionRequest(decision=decision, seen_hash=card.approval.arguments_hash)
    try:
        await client.decide(card.approval.call_id, request)
    except ApiProblem as error:
        # Somebody else was faster: their decision stands, and the run goes on with it.
        output.write_error(str(error))
    return True


def _given(picture: GivenPicture) -> str:
    words = f"{picture.words:,} words were read from {picture.name}"
    return f"The model sees {picture.name}; {words}." if picture.seen else f"The model cannot see pictures; {words}."


def _called(event: ToolCalled) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in event.arguments.items())
    words = {"allow": "runs", "ask": "waits for approval", "deny": "is denied", "refused": "is refused"}
    reason = f" ({event.reason})" if event.action != "allow" and event.reason else ""
    return plain(f"{event.agent}: {event.tool}({_short(arguments)}) {words[event.action]}{reason}")


def _returned(event: ToolReturned) -> str:
    return plain(f"  {event.tool} {event.state}: {_short(event.text)}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
