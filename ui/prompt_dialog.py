"""The dialog that fills in a prompt of an MCP server and puts it into the question box; it sends nothing.

The words are a server's: they are shown before they are used, and taint what an agent does with them.
"""

from __future__ import annotations

import streamlit as st

from app.attachment_schema import AttachEmbedded
from app.schema import QUESTION_CHARACTERS, PromptChoice
from app.tool_schema import PromptFill, PromptInfo, PromptText, ResourcePiece
from ui import blanks, prompt_in_box, session
from ui.attach_dialog import attach, choose_server_with
from ui.errors import UiError
from ui.markup import text_html
from ui.wording import literal, plural, shorten

_LISTED = "listed_prompts"
_FILLED = "filled_prompt"


def open_prompt_dialog() -> None:
    """Open the dialog with fresh lists."""
    for key in (_LISTED, _FILLED):
        st.session_state.pop(key, None)
    blanks.forget_suggestions()
    _dialog()


@st.dialog("Start from a prompt", icon=":material/edit_note:", width="medium")
def _dialog() -> None:
    st.caption("Prompts come from MCP servers. You see the words before they are used, and send them yourself.")
    server, listed = choose_server_with("prompt-server", _LISTED, _prompts, nothing="has no prompts")
    if not listed:
        return
    chosen = st.selectbox(
        "Prompt", listed, index=None, format_func=_label, placeholder="Choose a prompt", key=f"prompt-{server}"
    )
    if chosen is None:
        return
    if chosen.description:
        st.caption(literal(chosen.description))
    key = f"prompt-{server}-{chosen.name}"
    blanks.draw_blanks(chosen.arguments, server=server, key=key, prompt=chosen.name)
    values = blanks.values_of(chosen.arguments, key=key)
    lacking = blanks.missing(chosen.arguments, values)
    if st.button("Fill in", key="prompt-fill", icon=":material/edit:", disabled=bool(lacking)):
        _fill(server, chosen.name, values)
    filled: PromptText | None = st.session_state.get(_FILLED)
    if filled is not None and (filled.server, filled.name) == (server, chosen.name):
        _draw_filled(filled)


def _prompts(server: str) -> list[PromptInfo]:
    return session.client().tools.prompts(server).prompts


def _fill(server: str, name: str, values: dict[str, str]) -> None:
    try:
        with st.spinner("Filling in …"):
            filled = session.client().tools.fill_prompt(server, name, PromptFill(arguments=values))
    except UiError as error:
        st.session_state.pop(_FILLED, None)
        st.error(literal(str(error)), icon=":material/error:")
        return
    st.session_state[_FILLED] = filled


def _draw_filled(filled: PromptText) -> None:
    question, resources = filled.question, filled.resources
    readable = [piece for piece in resources if piece.text]
    with st.container(height=220, border=True):
        st.html(text_html(question or "The prompt has no words of its own."))
    if readable:
        st.caption(f"{plural(len(readable), 'text')} will be attached: {literal(_addresses(readable))}")
    if len(readable) < len(resources):
        st.caption(f"{plural(len(resources) - len(readable), 'resource')} without text will be left out.")
    if len(question) > QUESTION_CHARACTERS:
        st.error(f"The prompt has {len(question):,} characters; a question has at most {QUESTION_CHARACTERS:,}.")
        return
    if st.button(
        "Put into the question box",
        key="prompt-use",
        type="primary",
        icon=":material/input:",
        disabled=not question and not readable,
    ) and _attach_all(filled.server, readable):
        prompt_in_box.put(PromptChoice(server=filled.server, name=filled.name), question)
        st.rerun()


def _attach_all(server: str, resources: list[ResourcePiece]) -> bool:
    requests = [
        AttachEmbedded(server=server, uri=piece.uri, media_type=piece.media_type, text=piece.text or "")
        for piece in resources
    ]
    calls = session.client().attachments
    return all(attach(lambda thread_id, body=request: calls.attach(thread_id, body)) for request in requests)


def _addresses(resources: list[ResourcePiece]) -> str:
    return shorten(", ".join(piece.uri for piece in resources), 160)


def _label(prompt: PromptInfo) -> str:
    return shorten(prompt.title or prompt.name, 80)
