"""Tools with their state and risk."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import streamlit as st

from app.tool_schema import ToolInfo, ToolState, ToolSwitch
from ui import session
from ui.call_wording import Sign, moment, risk_badge
from ui.calls_html import pretty_json
from ui.errors import UiError
from ui.markup import styled
from ui.wording import literal, plural

STATES: Final[dict[ToolState, Sign]] = {
    "offered": Sign("on", ":material/check_circle:", "green"),
    "needs_review": Sign("new, to be reviewed", ":material/rate_review:", "orange"),
    "changed": Sign("changed, to be reviewed", ":material/difference:", "red"),
    "disabled": Sign("off", ":material/block:", "gray"),
    "unavailable": Sign("not answering", ":material/cloud_off:", "gray"),
}
ALL = "All"


def draw_tools(tools: Sequence[ToolInfo]) -> None:
    """Draw a line to fold open for each tool that matches what is looked for."""
    if not tools:
        st.caption("No server offers a tool.")
        return
    servers = sorted({tool.server for tool in tools})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input("Find", placeholder="Name or description", key="find-tool").lower().split()
        server = st.selectbox("Server", [ALL, *servers], key="find-tool-server") if len(servers) > 1 else ALL
    shown = [
        tool
        for tool in tools
        if server in (ALL, tool.server)
        and all(word in f"{tool.wire_name} {description(tool)}".lower() for word in words)
    ]
    st.caption(plural(len(shown), "tool"))
    for tool in shown:
        _draw_tool(tool)


def description(tool: ToolInfo) -> str:
    """What its author says of a tool; untrusted text."""
    return str(tool.definition.get("description") or "")


def draw_definition(tool: ToolInfo) -> None:
    """Draw what a tool says of itself."""
    st.caption(f"In the words of its author; agents know it as {literal(tool.wire_name)}.")
    st.html(styled(f'<p class="gw-quote">{escape(description(tool) or "No description.")}</p>'))
    st.caption(f"{risk_badge(tool.risk)} {literal(tool.risk_reason)}{' · idempotent' if tool.idempotent else ''}")
    st.code(pretty_json(tool.definition), language="json", wrap_lines=True, height=240)


def _draw_tool(tool: ToolInfo) -> None:
    sign = STATES[tool.state]
    label = (
        f"**{literal(tool.tool)}** :gray-badge[{literal(tool.server)}] {risk_badge(tool.risk)} "
        f":{sign.colour}-badge[{sign.words}]"
    )
    with st.expander(label, icon=sign.icon):
        if tool.reason:
            st.caption(f":material/info: {literal(tool.reason)}")
        draw_definition(tool)
        if tool.reviewed_at:
            st.caption(f"Reviewed by {literal(tool.reviewed_by)}, {moment(tool.reviewed_at)}")
        if tool.reviewed_at and tool.state in ("offered", "disabled", "unavailable"):
            on = tool.state == "disabled"
            st.button(
                "Switch on" if on else "Switch off",
                key=f"switch-{tool.wire_name}",
                icon=":material/toggle_on:" if on else ":material/toggle_off:",
                on_click=_switch,
                args=(tool, on),
            )


def _switch(tool: ToolInfo, enabled: bool) -> None:
    try:
        session.client().tools.switch(ToolSwitch(server=tool.server, tool=tool.tool, enabled=enabled))
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"{tool.tool} is {'on' if enabled else 'off'}.")
