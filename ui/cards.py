"""Cards of calls that wait for a person: drawn by code from what is stored, never from what a model says of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape

import streamlit as st
from pydantic import JsonValue

from app.approval_schema import Approval, ApprovalList
from tools.calls import Settlement
from ui import decisions, session
from ui.call_wording import risk_badge, time_left, tool_label
from ui.calls_html import arguments_html
from ui.errors import UiError
from ui.focus import focus_once
from ui.markup import styled
from ui.wording import literal, plural

EDIT = "Edit"
PATTERN = "Allow a pattern"
REASON = "Reject with reason"
RESPOND = "Answer instead"
DETAILS = "Details"
_SETTLEMENTS: tuple[tuple[Settlement, str, str], ...] = (
    ("happened", "It happened", ":material/check_circle:"),
    ("did_not_happen", "It did not happen", ":material/cancel:"),
    ("try_again", "Try again", ":material/replay:"),
)


def draw_notes(run_id: str) -> None:
    """Draw what came of the latest decisions on a run's calls, or on any with an empty id."""
    for note in decisions.notes(run_id):
        if note.kind == "success":
            st.success(literal(note.text), icon=":material/check_circle:")
        else:
            st.warning(literal(note.text), icon=":material/info:")


def draw_cards(run_id: str, waiting: ApprovalList, *, agents: dict[str, str] | None = None) -> None:
    """Draw the cards of one run, in order of proposal.

    Args:
        run_id: The run.
        waiting: Its calls that wait.
        agents: Which agent asked, by call id, where that is known.
    """
    undecided = [approval for approval in waiting.approvals if approval.state == "pending"]
    for approval in waiting.approvals:
        draw_card(approval, agent=(agents or {}).get(approval.call_id, ""))
    if len(undecided) > 1:
        st.button(
            f"Reject all {len(undecided)}",
            key=f"reject-all-{run_id}",
            icon=":material/block:",
            on_click=decisions.reject_all,
            args=(run_id,),
        )


def draw_card(approval: Approval, *, agent: str = "") -> None:
    """Draw one call with everything that a person needs to decide or settle it."""
    with st.container(border=True, key=f"card-{approval.call_id}", gap="xsmall"):
        _draw_head(approval)
        _draw_motive(approval, agent)
        st.html(arguments_html(approval.arguments, original=approval.original_arguments))
        if approval.taint_source:
            st.warning(
                f"Untrusted text is in this chat, from {literal(approval.taint_source)}. It may have led to this call: "
                "read the arguments with that in mind.",
                icon=":material/warning:",
            )
        if approval.state == "unknown":
            _draw_settlement(approval)
        else:
            _draw_decision(approval)


def confirm_destructive() -> None:
    """Ask once more before a destructive call runs, when somebody pressed to approve it."""
    if approval := decisions.take_confirmation():
        _confirm(approval)


@st.dialog("This cannot be undone", icon=":material/dangerous:", width="medium")
def _confirm(approval: Approval) -> None:
    st.markdown(tool_label(approval.tool, approval.server))
    st.html(arguments_html(approval.arguments))
    with st.container(horizontal=True):
        rejected = st.button(
            "Reject",
            key=f"confirm-reject-{approval.call_id}",
            icon=":material/block:",
            type="primary",
            on_click=decisions.reject,
            args=(approval,),
        )
        approved = st.button("Run it", key=f"confirm-{approval.call_id}", on_click=decisions.approve, args=(approval,))
    focus_once(f"confirm-reject-{approval.call_id}")
    if rejected or approved:
        st.rerun()


def _draw_head(approval: Approval) -> None:
    question = "What became of this?" if approval.state == "unknown" else "May this run?"
    left = time_left(approval.expires_at) if approval.state == "pending" else ""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{question}** {tool_label(approval.tool, approval.server)} {risk_badge(approval.risk)}")
        if left:
            st.caption(f":material/timer: {left}", width="content")
    policy = f" Why it asks: {approval.policy_reason}." if approval.policy_reason else ""
    st.caption(literal(approval.risk_reason + policy))


def _draw_motive(approval: Approval, agent: str) -> None:
    if not approval.motive:
        return
    who = f"**{literal(agent)}** asks because of:" if agent else "Asked because of:"
    st.caption(who)
    st.html(styled(f'<p class="gw-quote">{escape(approval.motive)}</p>'))


def _draw_decision(approval: Approval) -> None:
    call_id, destructive = approval.call_id, approval.risk == "destructive"
    with st.container(horizontal=True, gap="small"):
        if destructive:
            _reject_button(approval, primary=True)
        st.button(
            "Approve …" if destructive else "Approve once",
            key=f"approve-{call_id}",
            icon=":material/check:",
            type="secondary" if destructive else "primary",
            on_click=decisions.ask_to_confirm if destructive else decisions.approve,
            args=(approval,),
        )
        if approval.grantable:
            st.button(
                "Approve for this chat",
                key=f"approve-chat-{call_id}",
                icon=":material/done_all:",
                help="This tool is not asked for again in this chat, until you take it back on the Tools page.",
                on_click=decisions.approve,
                args=(approval, "chat"),
            )
        if not destructive:
            _reject_button(approval, primary=False)
    if destructive:
        focus_once(f"reject-{call_id}")
    choices = [EDIT, *([PATTERN] if approval.grantable and approval.arguments else []), REASON, RESPOND, DETAILS]
    chosen = st.segmented_control(
        "More choices", choices, key=f"more-{call_id}", label_visibility="collapsed", wrap=True
    )
    forms: dict[str, Callable[[Approval], None]] = {
        EDIT: _edit_form,
        PATTERN: _pattern_form,
        REASON: _reason_form,
        RESPOND: _respond_form,
        DETAILS: _draw_details,
    }
    if chosen:
        forms[chosen](approval)
    if problem := decisions.complaint(call_id):
        st.error(literal(problem), icon=":material/error:")


def _reject_button(approval: Approval, *, primary: bool) -> None:
    st.button(
        "Reject",
        key=f"reject-{approval.call_id}",
        icon=":material/block:",
        type="primary" if primary else "secondary",
        on_click=decisions.reject,
        args=(approval,),
    )


def _edit_form(approval: Approval) -> None:
    key = decisions.editor_key(approval.call_id)
    text = json.dumps(approval.arguments, indent=2, ensure_ascii=False)
    with st.form(f"{key}-form"):
        lines = min(14, text.count("\n") + 2)
        st.text_area("Arguments as JSON", value=text, key=key, height=26 * lines + 24)
        destructive = approval.risk == "destructive"
        st.form_submit_button(
            "Approve edited" + (", it cannot be undone" if destructive else ""),
            icon=":material/edit:",
            type="secondary" if destructive else "primary",
            on_click=decisions.approve_edited,
            args=(approval,),
        )


def _pattern_form(approval: Approval) -> None:
    with st.form(f"pattern-{approval.call_id}-form"):
        st.caption(
            "Approve this call, and in this chat every later one of this tool whose arguments match. `*` stands for "
            "any text; an empty line matches anything."
        )
        for name, value in approval.arguments.items():
            st.text_input(name, value=_exactly(value), key=decisions.pattern_key(approval.call_id, name))
        st.form_submit_button(
            "Approve this pattern",
            icon=":material/rule:",
            type="primary",
            on_click=decisions.approve_pattern,
            args=(approval,),
        )


def _reason_form(approval: Approval) -> None:
    with st.form(f"reason-{approval.call_id}-form"):
        st.text_input("Why not? The agent is told.", key=decisions.reason_key(approval.call_id), max_chars=4000)
        st.form_submit_button("Reject", icon=":material/block:", on_click=decisions.reject, args=(approval,))


def _respond_form(approval: Approval) -> None:
    with st.form(f"respond-{approval.call_id}-form"):
        st.text_area(
            "The tool does not run; the agent gets this as its result.",
            key=decisions.answer_key(approval.call_id),
            max_chars=4000,
        )
        st.form_submit_button("Answer instead", icon=":material/reply:", on_click=decisions.respond, args=(approval,))


def _draw_details(approval: Approval) -> None:
    """What the tool says of itself and what happened to the call so far."""
    try:
        with st.spinner("Asking the tool's server …"):
            card = session.client().approvals.card(approval.call_id)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    if card.tool is None:
        st.warning("The tool is not on offer now; its server may be down.", icon=":material/cloud_off:")
    else:
        if card.tool.changed:
            st.error("The tool's definition has changed since: this call would not run.", icon=":material/error:")
        st.caption("In the words of the tool's author:")
        st.html(styled(f'<p class="gw-quote">{escape(card.tool.description or "No description.")}</p>'))
        st.caption(f"Time limit {card.tool.timeout_seconds:.0f} s{'; idempotent' if card.tool.idempotent else ''}")
    for line in card.audit:
        st.caption(literal(f"{line.at:%H:%M:%S} {line.actor}: {line.event}"))


def _draw_settlement(approval: Approval) -> None:
    st.error(
        f"The call was started {plural(approval.attempt, 'time')} and its runner died before the result was kept. It "
        "may have happened or not. Look at the system itself, then say so; nothing is repeated by itself.",
        icon=":material/help:",
    )
    st.text_input("Note for the audit", key=decisions.note_key(approval.call_id), max_chars=4000)
    with st.container(horizontal=True, gap="small"):
        for settlement, label, icon in _SETTLEMENTS:
            st.button(
                label,
                key=f"settle-{settlement}-{approval.call_id}",
                icon=icon,
                on_click=decisions.settle,
                args=(approval, settlement),
            )
    if problem := decisions.complaint(approval.call_id):
        st.error(literal(problem), icon=":material/error:")


def grouped_by_run(approvals: Sequence[Approval]) -> dict[str, list[Approval]]:
    """Approvals by run, runs in order of their first call."""
    groups: dict[str, list[Approval]] = {}
    for approval in approvals:
        groups.setdefault(approval.run_id, []).append(approval)
    return groups


def _exactly(value: JsonValue) -> str:
    """A glob that matches this argument alone; it is compared with the text of a text and the JSON of all else."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)
