"""What questions of a thread are asked with, beside their words: kept in the session, each thread for itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from app.sampling_schema import SamplingChoice

_CHOICES = "asked_with"


@dataclass(frozen=True, slots=True)
class AskedWith:
    """The person's choice.

    Attributes:
        model: Chat model; empty leaves it to the preset or the settings.
        sampling: How tokens are drawn.
        preset: For a thread that is about to begin; the API keeps that of one which has begun.
        generation: One more with each reset, so that inputs begin anew.
    """

    model: str = ""
    sampling: SamplingChoice = field(default_factory=SamplingChoice)
    preset: str = ""
    generation: int = 0


def chosen(thread_id: str | None) -> AskedWith:
    """The choice for a thread, or for the one that the next question begins."""
    return _all().get(thread_id or "", AskedWith())


def keep(thread_id: str | None, choice: AskedWith) -> None:
    """Keep the choice for a thread."""
    _all()[thread_id or ""] = choice


def reset(thread_id: str | None) -> None:
    """Leave model and sampling to the preset and the settings."""
    before = chosen(thread_id)
    keep(thread_id, AskedWith(preset=before.preset, generation=before.generation + 1))


def hand_over(thread_id: str) -> AskedWith:
    """The thread that was about to begin has begun: its choice is this thread's, and the next one begins without."""
    kept = chosen(None)
    keep(thread_id, kept)
    keep(None, AskedWith(generation=kept.generation + 1))
    return kept


def _all() -> dict[str, AskedWith]:
    choices: dict[str, AskedWith] = st.session_state.setdefault(_CHOICES, {})
    return choices
