"""Review of tools that are new or have changed: what they say of themselves, what differs, and the decision."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.tool_schema import ToolInfo, ToolReview
from ui import session
from ui.call_wording import moment, risk_badge
from ui.calls_html import diff_html
from ui.errors import UiError
from ui.tool_list import STATES, draw_definition
from ui.wording import literal


def draw_reviews(tools: Sequence[ToolInfo]) -> None:
    """Draw a card for each tool to review."""
    if not tools:
        st.caption("Every tool has been reviewed.")
        return
    st.caption("A tool's words reach the model. Let in what you would let a colleague read out to it.")
    for tool in tools:
        with st.container(border=True):
            _draw_review(tool)


def _draw_review(tool: ToolInfo) -> None:
    sign = STATES[tool.state]
    st.markdown(
        f"**{literal(tool.tool)}** :gray-badge[{literal(tool.server)}] {risk_badge(tool.risk)} "
        f":{sign.colour}-badge[{sign.icon} {sign.words}]"
    )
    if tool.reviewed_definition is not None:
        at = f", {moment(tool.reviewed_at)}" if tool.reviewed_at else ""
        st.caption(f"What differs from the definition that {literal(tool.reviewed_by)} let in{at}:")
        st.html(diff_html(tool.reviewed_definition, tool.definition))
    draw_definition(tool)
    with st.container(horizontal=True):
        for accept, label, icon in ((True, "Let in", ":material/check:"), (False, "Keep off", ":material/block:")):
            st.button(
                label,
                key=f"{'accept' if accept else 'refuse'}-{tool.wire_name}",
                icon=icon,
                type="primary" if accept else "secondary",
                on_click=_review,
                args=(tool, accept),
            )


def _review(tool: ToolInfo, accept: bool) -> None:
    """Send the review of the definition that was seen, no other."""
    review = ToolReview(server=tool.server, tool=tool.tool, fingerprint=tool.fingerprint, accept=accept)
    try:
        session.client().tools.review(review)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"{tool.tool} is {'on' if accept else 'off'}.")
