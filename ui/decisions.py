"""What a person decides on a card, sent to the API; what came of it is kept to be shown beside the cards.

Functions here are callbacks: Streamlit runs one once for a click, before the page is drawn. A second click, a second
tab and a stale card are the API's to refuse; its sentence is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal, cast

import streamlit as st
from pydantic import JsonValue, ValidationError

from app.approval_schema import Approval, DecisionRequest, GrantChoice, SettlementRequest
from tools.calls import DecisionKind, Settlement
from ui import session
from ui.errors import ApiRefused, UiError

NOTE_SECONDS: Final = 20.0
"""How long what came of a decision stands beside the cards."""
_NOTES = "decision_notes"
_CONFIRM = "call_to_confirm"
_DONE: Final[dict[DecisionKind, str]] = {
    "approve": "Approved",
    "edit": "Approved as edited",
    "reject": "Rejected",
    "respond": "Answered in the tool's place",
}
_SETTLED: Final[dict[Settlement, str]] = {
    "happened": "Settled as happened",
    "did_not_happen": "Settled as not happened",
    "try_again": "It waits for a fresh decision",
}


@dataclass(frozen=True, slots=True)
class Note:
    """What came of a decision."""

    kind: Literal["success", "error"]
    text: str
    run_id: str
    until: float


def editor_key(call_id: str) -> str:
    """Key of the editor of a call's arguments."""
    return f"edit-{call_id}"


def reason_key(call_id: str) -> str:
    """Key of the reason for a rejection."""
    return f"reason-{call_id}"


def answer_key(call_id: str) -> str:
    """Key of the text that is returned in the tool's place."""
    return f"respond-{call_id}"


def pattern_key(call_id: str, name: str) -> str:
    """Key of the pattern over one argument."""
    return f"pattern-{call_id}-{name}"


def note_key(call_id: str) -> str:
    """Key of the note of a settlement."""
    return f"note-{call_id}"


def approve(approval: Approval, grant: Literal["none", "chat"] = "none") -> None:
    """Let a call run as it stands; with ``chat``, this tool is not asked for again in this chat."""
    _decide(approval, "approve", grant=grant)


def approve_pattern(approval: Approval) -> None:
    """Let a call run, and those like it from now on."""
    names = {name: _typed(pattern_key(approval.call_id, name)).strip() for name in approval.arguments}
    patterns = {name: glob for name, glob in names.items() if glob}
    if not patterns:
        _complain(approval, "Fill in at least one pattern; without any, use Approve for this chat.")
        return
    _decide(approval, "approve", grant="arguments", patterns=patterns)


def approve_edited(approval: Approval) -> None:
    """Let a call run with the arguments of the editor."""
    try:
        arguments = json.loads(_typed(editor_key(approval.call_id)))
    except ValueError as error:
        _complain(approval, f"This is no JSON: {error}.")
        return
    if not isinstance(arguments, dict):
        _complain(approval, "Arguments are a JSON object: names with values, in braces.")
        return
    _decide(approval, "edit", arguments=cast("dict[str, JsonValue]", arguments))


def reject(approval: Approval) -> None:
    """Do not let a call run; the model is told the reason."""
    _decide(approval, "reject", reason=_typed(reason_key(approval.call_id)))


def respond(approval: Approval) -> None:
    """Return a text in the tool's place; the tool does not run."""
    text = _typed(answer_key(approval.call_id)).strip()
    if not text:
        _complain(approval, "Write what the agent is to be told.")
        return
    _decide(approval, "respond", reason=text)


def settle(approval: Approval, settlement: Settlement) -> None:
    """Say what became of a call whose outcome is unknown."""
    request = SettlementRequest(settlement=settlement, note=_typed(note_key(approval.call_id)))
    _say(approval, _SETTLED[settlement], lambda: session.client().approvals.settle(approval.call_id, request))


def reject_all(run_id: str) -> None:
    """Reject every undecided call of a run."""
    try:
        rejected = session.client().approvals.reject_run(run_id).approvals
    except UiError as error:
        _note("error", str(error), run_id)
    else:
        _note("success", f"Rejected {len(rejected)} calls.", run_id)


def stop_run(run_id: str) -> None:
    """Stop a run and what waits in it."""
    try:
        session.client().cancel_run(run_id)
    except UiError as error:
        _note("error", str(error), run_id)


def ask_to_confirm(approval: Approval) -> None:
    """Have the page ask once more before a destructive call runs."""
    st.session_state[_CONFIRM] = approval


def take_confirmation() -> Approval | None:
    """The call to ask about once more, once."""
    return st.session_state.pop(_CONFIRM, None)


def to_confirm() -> bool:
    """Whether a call waits to be asked about once more."""
    return _CONFIRM in st.session_state


def complaint(call_id: str) -> str:
    """What is wrong with what was typed into a card's form; empty when nothing is."""
    return st.session_state.get(_complaint_key(call_id), "")


def notes(run_id: str) -> list[Note]:
    """What came of the latest decisions on a run's calls, or on any with an empty id."""
    kept = [note for note in _all_notes() if note.until > monotonic()]
    st.session_state[_NOTES] = kept
    return [note for note in kept if run_id in ("", note.run_id)]


def _decide(
    approval: Approval,
    decision: DecisionKind,
    *,
    reason: str = "",
    arguments: dict[str, JsonValue] | None = None,
    grant: GrantChoice = "none",
    patterns: Mapping[str, str] | None = None,
) -> None:
    try:
        request = DecisionRequest(
            decision=decision,
            seen_hash=approval.arguments_hash,
            reason=reason,
            arguments=arguments,
            grant=grant,
            patterns=dict(patterns or {}),
        )
    except ValidationError as error:
        _complain(approval, f"{error.errors()[0]['msg']}.")
        return
    _say(approval, _DONE[decision], lambda: session.client().approvals.decide(approval.call_id, request))


def _say(approval: Approval, done: str, call: Callable[[], Approval]) -> None:
    st.session_state.pop(_complaint_key(approval.call_id), None)
    try:
        call()
    except ApiRefused as error:
        if error.status == 409:
            _note("error", str(error), approval.run_id)
        else:
            _complain(approval, str(error))
    except UiError as error:
        _note("error", str(error), approval.run_id)
    else:
        _note("success", f"{done}: {approval.tool}.", approval.run_id)


def _typed(key: str) -> str:
    return st.session_state.get(key) or ""


def _complain(approval: Approval, text: str) -> None:
    st.session_state[_complaint_key(approval.call_id)] = text


def _complaint_key(call_id: str) -> str:
    return f"complaint-{call_id}"


def _note(kind: Literal["success", "error"], text: str, run_id: str) -> None:
    st.session_state[_NOTES] = [*_all_notes()[-3:], Note(kind, text, run_id, monotonic() + NOTE_SECONDS)]


def _all_notes() -> list[Note]:
    return st.session_state.get(_NOTES, [])
