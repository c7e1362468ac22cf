"""Inputs for how tokens are drawn; an empty one leaves its value to whoever stands behind."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import streamlit as st
from pydantic import ValidationError

from app.sampling_schema import STOP_CHARACTERS, STOP_TEXTS, SamplingChoice
from ui.wording import shorten

Choice = TypeVar("Choice", bound=SamplingChoice)
INPUT_WIDTH = 160
"""Two beside each other on a phone."""


class Slot(NamedTuple):
    """One number; whole where its step is."""

    name: str
    label: str
    low: float
    high: float
    step: float
    help: str


SLOTS = (
    Slot("temperature", "Temperature", 0.0, 2.0, 0.1, "0 takes the likeliest token each time."),
    Slot("max_tokens", "Max tokens", 1, 8192, 1, "Longest answer. One that is cut off can go on."),
    Slot("top_p", "Top p", 0.01, 1.0, 0.05, "Draws from the likeliest tokens that have this share of probability."),
    Slot("top_k", "Top k", 1, 1000, 1, "Draws from this many likeliest tokens. For vLLM and llama.cpp."),
    Slot("min_p", "Min p", 0.0, 1.0, 0.01, "Least probability, as a share of the likeliest token's. As top k."),
    Slot("seed", "Seed", 0, 2**31 - 1, 1, "Makes a draw repeatable where the server can."),
    Slot("presence_penalty", "Presence penalty", -2.0, 2.0, 0.1, "Taken from each token that was written."),
    Slot("frequency_penalty", "Frequency penalty", -2.0, 2.0, 0.1, "Taken from a token each time it was written."),
    Slot("repetition_penalty", "Repetition penalty", 0.05, 2.0, 0.05, "1 changes nothing. For vLLM and llama.cpp."),
)


def filled_in(given: Choice, *, key: str) -> Choice:
    """What the inputs hold, also before they are drawn anew; ``given`` where the API would not take it.

    Args:
        given: What they held at first.
        key: Sets these inputs apart; another key begins anew.
    """
    values: dict[str, object] = {
        slot.name: st.session_state.get(f"{key}-{slot.name}", getattr(given, slot.name)) for slot in SLOTS
    }
    stops = st.session_state.get(f"{key}-stop")
    values["stop"] = given.stop if stops is None else tuple(line for line in stops.splitlines() if line) or None
    try:
        return type(given).model_validate(values)
    except ValidationError:
        return given


def draw_sampling(given: SamplingChoice, *, key: str) -> None:
    """Draw an input for each value; ``filled_in`` reads them."""
    with st.container(horizontal=True, gap="small"):
        for slot in SLOTS:
            _draw(slot, getattr(given, slot.name), key)
    stops: str = st.text_area(
        "Stop at",
        value="\n".join(given.stop or ()),
        key=f"{key}-stop",
        height=80,
        placeholder="One text a line",
        help="The answer ends before the first of these texts.",
    )
    lines = [line for line in stops.splitlines() if line]
    if len(lines) > STOP_TEXTS or any(len(line) > STOP_CHARACTERS for line in lines):
        st.error(f"Give at most {STOP_TEXTS} texts to stop at, of at most {STOP_CHARACTERS} characters each.")


def summary(choice: SamplingChoice) -> str:
    """The chosen values on one line; empty without any."""
    chosen = choice.chosen()
    parts = [f"{slot.label.lower()} {chosen[slot.name]}" for slot in SLOTS if slot.name in chosen]
    stops = [f"stop {shorten(repr(text), 30)}" for text in choice.stop or ()]
    return ", ".join([*parts, *stops])


def _draw(slot: Slot, value: float | None, key: str) -> None:
    kind = int if isinstance(slot.step, int) else float
    st.number_input(
        slot.label,
        min_value=kind(slot.low),
        max_value=kind(slot.high),
        value=None if value is None else kind(value),
        step=kind(slot.step),
        key=f"{key}-{slot.name}",
        placeholder="as set",
        help=slot.help,
        width=INPUT_WIDTH,
    )
