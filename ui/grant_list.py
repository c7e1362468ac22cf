"""Standing grants, to be taken back, and the audit trail."""

from __future__ import annotations

import json

import streamlit as st

from app.approval_schema import AuditLine, GrantInfo
from ui import session
from ui.approval_client import ApprovalCalls
from ui.call_wording import moment, tool_label
from ui.calls_html import arguments_html
from ui.errors import UiError
from ui.wording import literal

AUDIT_PAGE = 1000


def draw_grants() -> None:
    """Draw every standing grant."""
    grants = session.client().approvals.grants()
    if not grants:
        st.caption("There are no standing grants: every call that the policy asks about is asked about.")
    for grant in reversed(grants):
        with st.container(border=True):
            _draw_grant(grant)


def draw_audit() -> None:
    """Draw the latest lines of the audit trail, and offer all of it."""
    calls = session.client().approvals
    lines = _latest(calls)
    st.download_button(
        "Download as CSV",
        data=calls.audit_csv,
        file_name="groundwork-audit.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    if not lines:
        st.caption("Nothing was proposed, decided or run yet.")
        return
    st.dataframe(
        [_row(line) for line in reversed(lines)],
        hide_index=True,
        height=min(560, 38 + 35 * len(lines)),
        column_config={
            "at": st.column_config.TextColumn("When", width="medium"),
            "actor": st.column_config.TextColumn("Who", width="small"),
            "event": st.column_config.TextColumn("What", width="small"),
            "call": st.column_config.TextColumn("Call", width="small"),
            "detail": st.column_config.TextColumn("Detail", width="large"),
        },
    )


def _latest(calls: ApprovalCalls) -> list[AuditLine]:
    """The last page of the trail, oldest line first."""
    page = calls.audit(limit=AUDIT_PAGE)
    kept = page.entries
    while page.next is not None:
        page = calls.audit(after=page.next, limit=AUDIT_PAGE)
        kept = [*kept, *page.entries][-AUDIT_PAGE:]
    return kept


def _draw_grant(grant: GrantInfo) -> None:
    where = "in one chat" if grant.thread_id else "in every chat"
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"{tool_label(grant.tool, grant.server)} {where}")
        st.button(
            "Take back",
            key=f"revoke-{grant.grant_id}",
            icon=":material/undo:",
            type="tertiary",
            on_click=_revoke,
            args=(grant,),
        )
    if grant.arguments:
        st.html(arguments_html(grant.arguments))
    st.caption(literal(f"Given by {grant.granted_by}, {moment(grant.granted_at)}"))


def _revoke(grant: GrantInfo) -> None:
    try:
        session.client().approvals.revoke(grant.grant_id)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"{grant.tool} is asked for again.")


def _row(line: AuditLine) -> dict[str, str]:
    return {
        "at": moment(line.at),
        "actor": line.actor,
        "event": line.event.replace("_", " "),
        "call": line.call_id,
        "detail": json.dumps(line.detail, ensure_ascii=False) if line.detail else "",
    }
