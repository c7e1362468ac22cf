"""Pictures in the chat: beside a question with what its model was given of them, and what that means for the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from agents.answer import Answer
from agents.picture_record import GivenPicture
from app.schema import RunInfo
from ui import session
from ui.client import ApiClient
from ui.errors import UiError
from ui.wording import literal, plural, shorten

KINDS: Final = ("png", "jpg", "jpeg", "webp", "gif")
"""Endings of the files that are kept as pictures."""
QUESTION: Final = "What does this picture show?"
"""Asked where somebody sends a picture without a word."""
THUMBNAIL_WIDTH = 260
CHIP_WIDTH = 40
_NAME_LENGTH = 40


def draw_beside_question(run: RunInfo) -> None:
    """Draw the pictures of a question; a click on one enlarges it."""
    if not run.pictures:
        return
    with st.container(horizontal=True, gap="small", key=f"pictures-{run.run_id}"):
        for picture in run.pictures:
            draw_picture(run.thread_id, picture.attachment_id, width=min(THUMBNAIL_WIDTH, picture.width))
    for picture in run.pictures:
        st.caption(given(picture))


def draw_picture(thread_id: str, attachment_id: str, *, width: int) -> None:
    """Draw a picture of a thread, or say that it is gone."""
    try:
        data = _bytes(session.client().base_url, thread_id, attachment_id)
    except UiError as error:
        st.caption(f":material/broken_image: {literal(str(error))}")
        return
    st.image(data, width=width)


def given(picture: GivenPicture) -> str:
    """What the model was given of a picture, in one sentence."""
    name, words = literal(shorten(picture.name, _NAME_LENGTH)), plural(picture.words, "word")
    if picture.seen:
        return f":material/visibility: {name}: seen by the model, with {words} read from it."
    return f":material/visibility_off: {name}: the model cannot see it and was given {words} read from it."


def draw_remarks(run: RunInfo, answer: Answer) -> None:
    """Say which sentences are from a picture, for no document holds them, and that a look cannot be checked."""
    if answer.picture_claims:
        places = _places(answer.picture_claims)
        st.caption(f":material/image: {places} in the words of the picture, and in no document.")
    if any(picture.seen for picture in run.pictures) and any(claim.verdict != "verified" for claim in answer.claims):
        st.caption(":material/image: What the model says of the look of a picture cannot be checked.")


def _places(claims: Sequence[int]) -> str:
    if len(claims) == 1:
        return f"Sentence {claims[0] + 1} stands"
    numbers = [str(place + 1) for place in claims]
    return f"Sentences {', '.join(numbers[:-1])} and {numbers[-1]} stand"


@st.cache_data(max_entries=100, show_spinner=False)
def _bytes(base_url: str, thread_id: str, attachment_id: str) -> bytes:
    """The picture's file, which never changes."""
    with ApiClient(base_url) as reader:
        return reader.attachments.picture(thread_id, attachment_id)
