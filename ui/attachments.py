"""Above the question box: what is attached to the open chat, how more is attached, where a prompt was taken from."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.attachment_schema import Attachment
from ui import prompt_in_box, session
from ui.attach_dialog import open_attach_dialog
from ui.errors import ApiRefused, UiError
from ui.pictures import CHIP_WIDTH, draw_picture
from ui.prompt_dialog import open_prompt_dialog
from ui.session import PassageKey
from ui.wording import literal, plural, shorten

NAME_LENGTH = 28
_GOES = "; it goes with your next question"
_KINDS = {"resource": "Resource of", "file": "File", "document": "Document", "picture": "Picture"}


def draw_attachments(thread_id: str | None) -> None:
    """Draw the row above the question box."""
    attached = _attached(thread_id)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="attachments"):
        if st.button("Attach", key="attach", icon=":material/attach_file:", type="tertiary"):
            open_attach_dialog()
        if st.button("Prompts", key="prompts", icon=":material/edit_note:", type="tertiary"):
            open_prompt_dialog()
        if prompt := prompt_in_box.current():
            _draw_prompt(prompt.label)
        for entry in attached:
            _draw_chip(entry)


def _attached(thread_id: str | None) -> Sequence[Attachment]:
    if thread_id is None:
        return ()
    try:
        return session.client().attachments.list(thread_id)
    except ApiRefused as error:
        if error.status == 404:
            # The thread was deleted elsewhere; the page says so where it draws it.
            return ()
        raise


def _draw_chip(entry: Attachment) -> None:
    """One attached text, or a picture that waits: a click opens it, the cross takes it off."""
    name = shorten(entry.name, NAME_LENGTH)
    picture = entry.picture
    told = f"{plural(picture.words, 'word')} read from it" if picture else plural(entry.characters, "character")
    with st.container(
        horizontal=True,
        gap="xsmall" if picture else None,
        width="content",
        wrap=False,
        vertical_alignment="center",
        key=f"chip-{entry.attachment_id}",
    ):
        if picture:
            draw_picture(entry.thread_id, entry.attachment_id, width=CHIP_WIDTH)
        st.button(
            literal(name),
            key=f"attached-{entry.attachment_id}",
            icon=":material/image:" if picture else ":material/description:",
            help=literal(f"{origin(entry)}, {told}{_GOES if picture else ''}"),
            on_click=session.ask_to_open,
            args=(PassageKey("", "", thread_id=entry.thread_id, attachment_id=entry.attachment_id),),
        )
        st.button(
            "",
            key=f"detach-{entry.attachment_id}",
            icon=":material/close:",
            help=f"Remove {literal(name)}",
            on_click=_remove,
            args=(entry,),
        )


def _draw_prompt(name: str) -> None:
    """Where the words in the box come from: the question counts as made from it until it is sent or let go."""
    with st.container(horizontal=True, gap=None, width="content", wrap=False, key="chip-prompt"):
        st.button(
            f"From {literal(shorten(name, NAME_LENGTH))}",
            key="prompt-name",
            icon=":material/edit_note:",
            help="The question is made from this prompt of a server. Its words are from outside, so that saved grants "
            "do not apply to what an agent does with it.",
            disabled=True,
        )
        st.button(
            "", key="prompt-clear", icon=":material/close:", help="Forget the prompt", on_click=prompt_in_box.forget
        )


def origin(entry: Attachment) -> str:
    """Where an attached text came from."""
    kind = _KINDS[entry.kind]
    return f"{kind} {entry.server}: {entry.uri}" if entry.kind == "resource" else f"{kind} {entry.name}"


def _remove(entry: Attachment) -> None:
    try:
        session.client().attachments.remove(entry.thread_id, entry.attachment_id)
    except UiError as error:
        session.notify("error", str(error))
