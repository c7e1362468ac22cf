"""The prompt of a server that was put into the question box: kept in the session until the question is sent."""

from __future__ import annotations

import streamlit as st

from app.schema import PromptChoice

QUESTION_BOX = "question"
"""Key of the question box."""
_CHOICE = "prompt_in_box"
_TEXT = "text_for_box"


def put(prompt: PromptChoice, text: str) -> None:
    """Have the text put into the box; the person sends it."""
    st.session_state[_CHOICE] = prompt
    st.session_state[_TEXT] = text


def put_back(text: str) -> None:
    """Have words that could not be sent put into the box again."""
    st.session_state[_TEXT] = text


def current() -> PromptChoice | None:
    """The prompt that the words in the box are from."""
    return st.session_state.get(_CHOICE)


def forget() -> None:
    """The question is the person's own."""
    st.session_state.pop(_CHOICE, None)


def fill_box() -> None:
    """Put the waiting text into the box, once; right before the box is drawn."""
    if (text := st.session_state.pop(_TEXT, None)) is not None:
        st.session_state[QUESTION_BOX] = text
