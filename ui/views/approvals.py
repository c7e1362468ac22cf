"""Approvals: everything that waits for a person, over all chats, and what was decided lately."""

from __future__ import annotations

import streamlit as st

from app.approval_schema import Approval, ApprovalList
from tools.calls import CallState
from ui import decisions, session
from ui.call_wording import STATES, decision_line, moment
from ui.cards import confirm_destructive, draw_cards, draw_notes, grouped_by_run
from ui.passage_drawer import CHAT_PAGE
from ui.problem import draw_notice
from ui.questions import draw_questions
from ui.wording import literal, shorten

POLL_SECONDS = 2.0
RECENT = 100
"""How many decided calls are listed."""
_DECIDED: tuple[CallState, ...] = ("done", "failed", "rejected", "expired", "started")


def draw() -> None:
    """Draw the approvals page."""
    st.subheader("Approvals", anchor=False)
    draw_notice()
    confirm_destructive()
    waiting, decided = st.tabs(["Waiting", "Decided"], key="approval-tabs", on_change="rerun")
    with waiting:
        _draw_inbox()
    if decided.open:
        with decided:
            _draw_decided(session.client().approvals.list(states=_DECIDED, limit=RECENT).approvals)


@st.fragment(run_every=POLL_SECONDS)
def _draw_inbox() -> None:
    """What waits, read anew every moment: somebody may decide elsewhere."""
    if decisions.to_confirm():
        st.rerun()
    client = session.client()
    waiting = client.approvals.list()
    titles = {thread.thread_id: thread.title for thread in client.threads()}
    draw_notes("")
    asked = draw_questions()
    if not waiting.approvals:
        if not asked:
            st.info("Nothing waits for you. Calls of agents that change something appear here.", icon=":material/done:")
        return
    for run_id, approvals in grouped_by_run(waiting.approvals).items():
        _draw_run(run_id, ApprovalList(approvals=approvals, counts=waiting.counts), titles)


def _draw_run(run_id: str, waiting: ApprovalList, titles: dict[str, str]) -> None:
    thread_id = waiting.approvals[0].thread_id
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        title = shorten(titles.get(thread_id) or "Chat without a title", 60)
        st.page_link(CHAT_PAGE, label=literal(title), icon=":material/forum:", query_params={session.THREAD: thread_id})
        st.button(
            "Stop run",
            key=f"stop-run-{run_id}",
            icon=":material/stop_circle:",
            type="tertiary",
            on_click=decisions.stop_run,
            args=(run_id,),
        )
    draw_cards(run_id, waiting)


def _draw_decided(approvals: list[Approval]) -> None:
    if not approvals:
        st.caption("Nothing was decided yet.")
        return
    rows = [
        {
            "tool": f"{approval.server} · {approval.tool}",
            "state": STATES[approval.state],
            "decision": decision_line(
                approval.decision or "", approval.decided_by or "", approval.decision_reason or ""
            ),
            "at": moment(approval.decided_at or approval.proposed_at),
            "arguments": str(approval.arguments),
        }
        for approval in reversed(approvals)
    ]
    st.dataframe(
        rows,
        hide_index=True,
        column_config={
            "tool": st.column_config.TextColumn("Tool", width="medium"),
            "state": st.column_config.TextColumn("State", width="small"),
            "decision": st.column_config.TextColumn("Decision", width="medium"),
            "at": st.column_config.TextColumn("When", width="small"),
            "arguments": st.column_config.TextColumn("Arguments", width="large"),
        },
    )


draw()
