"""MCP servers and how they are doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from app.tool_schema import ServerInfo, ServerState
from ui import session
from ui.call_wording import Sign
from ui.errors import UiError
from ui.wording import literal, plural

_STATES: Final[dict[ServerState, Sign]] = {
    "idle": Sign("starts when it is used", ":material/bedtime:", "gray"),
    "connecting": Sign("connecting", ":material/progress_activity:", "blue"),
    "ready": Sign("ready", ":material/check_circle:", "green"),
    "broken": Sign("does not answer", ":material/error:", "red"),
    "disabled": Sign("switched off", ":material/block:", "gray"),
    "invalid": Sign("wrong entry", ":material/error:", "red"),
}


def draw_servers(servers: Sequence[ServerInfo]) -> None:
    """Draw a card for each server."""
    for server in servers:
        with st.container(border=True):
            _draw_server(server)


def _draw_server(server: ServerInfo) -> None:
    sign = _STATES[server.state]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        trust = " :green-badge[:material/verified_user: trusted]" if server.trusted else " :gray-badge[not trusted]"
        st.markdown(f"**{literal(server.name)}** :{sign.colour}-badge[{sign.icon} {sign.words}]{trust}")
        if server.state not in ("disabled", "invalid"):
            st.button(
                "Restart",
                key=f"restart-{server.name}",
                icon=":material/restart_alt:",
                type="tertiary",
                on_click=_restart,
                args=(server.name,),
            )
    if server.endpoint:
        st.code(server.endpoint, language=None, wrap_lines=True)
    facts = [
        literal(server.software),
        f"MCP {literal(server.protocol_version)}" if server.protocol_version else "",
        literal(", ".join(server.capabilities)),
    ]
    st.caption(" · ".join(fact for fact in facts if fact))
    if server.detail:
        retry = f" Tried again in {server.retry_in_seconds:.0f} s." if server.retry_in_seconds else ""
        failures = f" Failed {plural(server.failures, 'time')}." if server.failures else ""
        st.error(literal(f"{server.detail.rstrip('.')}.{failures}{retry}"), icon=":material/error:")
    if server.ignored_keys:
        st.caption(f":material/info: Keys that Groundwork does not know: {literal(', '.join(server.ignored_keys))}")


def _restart(name: str) -> None:
    try:
        server = session.client().tools.restart(name)
    except UiError as error:
        session.notify("error", str(error))
        return
    if server.state == "ready":
        session.notify("success", f"{name} answers.")
    else:
        session.notify("error", f"{name} does not answer: {server.detail}")
