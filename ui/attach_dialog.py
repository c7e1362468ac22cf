"""The dialog that attaches a text to the open chat: a resource of an MCP server, a file, or a stored document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import streamlit as st

from app.attachment_schema import AttachDocument, Attachment, AttachResource
from app.tool_schema import ResourceInfo, ResourcePiece
from ui import blanks, session
from ui.errors import UiError
from ui.markup import text_html
from ui.new_thread import begin_thread
from ui.wording import literal, shorten, size

SHOWN_CHARACTERS: Final = 2000
"""How much of a resource is shown before it is attached."""
_SOURCES: Final = {"From a server": ":material/dns:", "File": ":material/upload_file:", "Document": ":material/folder:"}
_LISTED = "listed_resources"
_SEEN = "resource_looked_at"
Item = TypeVar("Item")


def open_attach_dialog() -> None:
    """Open the dialog with fresh lists."""
    st.session_state.pop(_LISTED, None)
    st.session_state.pop(_SEEN, None)
    blanks.forget_suggestions()
    _dialog()


@st.dialog("Attach to this chat", icon=":material/attach_file:", width="medium")
def _dialog() -> None:
    st.caption(
        "Questions of this chat see attached texts first, and answers cite them. They are not searched elsewhere. A "
        "picture goes with the next question."
    )
    source = st.segmented_control(
        "Source",
        list(_SOURCES),
        default="From a server",
        required=True,
        format_func=lambda name: f"{_SOURCES[name]} {name}",
        key="attach-source",
        label_visibility="collapsed",
    )
    match source:
        case "File":
            _draw_file()
        case "Document":
            _draw_document()
        case _:
            _draw_resource()


def choose_server_with(
    key: str, name: str, ask: Callable[[str], list[Item]], *, nothing: str
) -> tuple[str, list[Item]]:
    """Draw the choice of a server; its name and what it has, empty where there is nothing to choose, which is said.

    Args:
        key: Of the choice.
        name: Where the session keeps what servers have; the dialog forgets it when it opens.
        ask: Asks the API what a server has.
        nothing: What is said of a server that has none.
    """
    server = _choose_server(key)
    listed = _listed_once(name, server, ask) if server else None
    if listed == []:
        st.caption(f"{literal(server or '')} {nothing}.")
    return server or "", listed or []


def _choose_server(key: str) -> str | None:
    """Draw the choice of a server; None while there is none to choose."""
    try:
        servers = session.client().tools.servers()
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return None
    names = [server.name for server in servers if server.state not in ("disabled", "invalid")]
    if not names:
        st.info("No MCP server is configured; add one with: `groundwork mcp add`", icon=":material/dns:")
        return None
    return st.selectbox("Server", names, key=key)


def attach(send: Callable[[str], Attachment]) -> bool:
    """Attach to the open chat, a new one when none is open; False when the API refused, which is said."""
    try:
        thread_id = session.thread_id()
        if thread_id is None:
            thread_id = begin_thread()
            session.open_thread(thread_id)
        with st.spinner("Reading …"):
            send(thread_id)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return False
    return True


def _draw_resource() -> None:
    server, listed = choose_server_with("attach-server", _LISTED, _resources, nothing="has nothing to read")
    if not listed:
        return
    chosen = st.selectbox(
        "Resource", listed, index=None, format_func=_label, placeholder="Choose a resource", key=f"resource-{server}"
    )
    if chosen is None:
        return
    st.caption(" · ".join(literal(part) for part in (chosen.description, chosen.uri, _facts(chosen)) if part))
    uri = chosen.uri
    if chosen.template:
        key = f"blank-{server}-{chosen.uri}"
        asked = blanks.template_blanks(chosen.uri)
        blanks.draw_blanks(asked, server=server, key=key, template=chosen.uri)
        values = blanks.values_of(asked, key=key)
        uri = "" if blanks.missing(asked, values) else blanks.fill_template(chosen.uri, values)
    _draw_look(server, uri)
    name = "" if chosen.template else (chosen.title or chosen.name)[:200]
    request = AttachResource(server=server, uri=uri or "-", name=name)
    clicked = st.button(
        "Attach", key="attach-resource", type="primary", icon=":material/attach_file:", disabled=not uri
    )
    if clicked and attach(lambda thread_id: session.client().attachments.attach(thread_id, request)):
        st.rerun()


def _listed_once(name: str, server: str, ask: Callable[[str], list[Item]]) -> list[Item] | None:
    """What the server has, asked for once for each opening of a dialog; None when it does not answer."""
    known: dict[str, list[Item]] = st.session_state.setdefault(name, {})
    if server not in known:
        try:
            with st.spinner(f"Asking {literal(server)} …"):
                known[server] = ask(server)
        except UiError as error:
            st.error(literal(str(error)), icon=":material/error:")
            st.button("Try again", key=f"{name}-again", icon=":material/refresh:")
            return None
    return known[server]


def _resources(server: str) -> list[ResourceInfo]:
    return session.client().tools.resources(server).resources


def _draw_look(server: str, uri: str) -> None:
    """Show the beginning of the resource when somebody wants to see it first."""
    if st.button("Look inside", key="look-inside", icon=":material/visibility:", disabled=not uri):
        st.session_state[_SEEN] = uri
    if not uri or st.session_state.get(_SEEN) != uri:
        return
    try:
        with st.spinner("Reading …"):
            pieces = session.client().tools.read_resource(server, uri).pieces
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    for piece in pieces:
        _draw_piece(piece)


def _draw_piece(piece: ResourcePiece) -> None:
    if piece.text is None:
        kind = literal(piece.media_type or "bytes of no stated type")
        st.caption(f"{kind}, {size(len(piece.blob or '') * 3 // 4)}: no text that can be shown here.")
        return
    with st.container(height=220, border=True):
        more = " …" if len(piece.text) > SHOWN_CHARACTERS else ""
        st.html(text_html(f"{piece.text[:SHOWN_CHARACTERS]}{more}"))


def _draw_file() -> None:
    file = st.file_uploader(
        "A small file",
        key="attach-file",
        help="Text, Markdown, PDF, Word and whatever is ingested. A picture goes with your next question.",
    )
    clicked = st.button(
        "Attach", key="attach-file-send", type="primary", icon=":material/attach_file:", disabled=file is None
    )
    if clicked and file is not None:
        name, data = file.name, file.getvalue()
        if attach(lambda thread_id: session.client().attachments.attach_file(thread_id, name, data)):
            st.rerun()


def _draw_document() -> None:
    try:
        documents = [record for record in session.client().documents() if record.status == "ready"]
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    if not documents:
        st.caption("There are no documents yet.")
        return
    chosen = st.selectbox(
        "Document",
        documents,
        index=None,
        format_func=lambda record: shorten(f"{record.title or record.source} · {record.collection}", 90),
        placeholder="Choose a document",
        key="attach-document",
    )
    clicked = st.button(
        "Attach", key="attach-document-send", type="primary", icon=":material/attach_file:", disabled=chosen is None
    )
    if clicked and chosen is not None:
        request = AttachDocument(document_id=chosen.document_id)
        if attach(lambda thread_id: session.client().attachments.attach(thread_id, request)):
            st.rerun()


def _label(resource: ResourceInfo) -> str:
    name = resource.title or resource.name or resource.uri
    return " · ".join(part for part in (shorten(name, 60), _facts(resource)) if part)


def _facts(resource: ResourceInfo) -> str:
    """Type and size, as far as the server says."""
    length = "" if resource.size_bytes is None else size(resource.size_bytes)
    return " · ".join(
        part for part in ("with blanks" if resource.template else "", resource.media_type, length) if part
    )
