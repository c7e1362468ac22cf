"""Tools: the servers they come from, their state, review of new and changed ones, grants, and the audit trail."""

from __future__ import annotations

import streamlit as st

from app.tool_schema import ToolListing
from ui import session
from ui.errors import UiError
from ui.grant_list import draw_audit, draw_grants
from ui.problem import draw_notice
from ui.server_list import draw_servers
from ui.tool_list import draw_tools
from ui.tool_review import draw_reviews
from ui.wording import literal

WATCH_SECONDS = 2.0
_TO_REVIEW = ("needs_review", "changed")


def draw() -> None:
    """Draw the tools page."""
    st.subheader("Tools", anchor=False)
    st.caption("What agents may use. Servers are written in `mcp.json`; a tool is off until a person has reviewed it.")
    draw_notice()
    with st.spinner("Asking the servers …"):
        listing = session.client().tools.listing()
    if listing.problem:
        st.error(literal(listing.problem), icon=":material/error:")
    to_review = [tool for tool in listing.tools if tool.state in _TO_REVIEW]
    names = ["Servers", "Tools", f"To review ({len(to_review)})" if to_review else "To review", "Grants", "Audit"]
    servers, tools, review, grants, audit = st.tabs(names, key="tools-tabs", on_change="rerun")
    with servers:
        _draw_server_tab(listing)
    with tools:
        draw_tools(listing.tools)
    with review:
        draw_reviews(to_review)
    if grants.open:
        with grants:
            draw_grants()
    if audit.open:
        with audit:
            draw_audit()


def _draw_server_tab(listing: ToolListing) -> None:
    if not listing.servers:
        st.info("No server is configured. Add one: `groundwork mcp add NAME -- COMMAND`", icon=":material/dns:")
    draw_servers(listing.servers)
    if any(server.state == "connecting" for server in listing.servers):
        _watch()


@st.fragment(run_every=WATCH_SECONDS)
def _watch() -> None:
    """Draw the page anew when a server that was starting has started, or has not."""
    try:
        servers = session.client().tools.listing().servers
    except UiError:
        return
    if all(server.state != "connecting" for server in servers):
        st.rerun()


draw()
