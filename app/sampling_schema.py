"""How tokens are drawn, as requests and presets say it: pydantic alone, also imported by the UI."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field, StringConstraints

STOP_TEXTS = 8
"""Most texts to stop at."""
STOP_CHARACTERS = 100
"""Longest of them."""
StopText: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=STOP_CHARACTERS)]


class SamplingChoice(BaseModel):
    """Values for ``agents.chat_model.Sampling``; what is null is left to whoever stands behind.

    ``top_k``, ``min_p`` and ``repetition_penalty`` are no part of OpenAI's wire: vLLM and llama.cpp take them, another
    server may refuse the request.
    """

    temperature: float | None = Field(default=None, ge=0, le=2)
    """0 takes the likeliest token."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Share of probability that tokens are drawn from."""
    top_k: int | None = Field(default=None, ge=1, le=1000)
    """Number of likeliest tokens that tokens are drawn from."""
    min_p: float | None = Field(default=None, ge=0, le=1)
    """Least probability, as a share of the likeliest token's."""
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    """Longest answer."""
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """Makes a draw repeatable where the server can."""
    stop: tuple[StopText, ...] | None = Field(default=None, max_length=STOP_TEXTS)
    """Texts before which the answer ends."""
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    """Taken from the score of every token that was written."""
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    """Taken from the score of a token each time it was written."""
    repetition_penalty: float | None = Field(default=None, gt=0, le=2)
    """Divides the score of tokens of prompt and answer; 1 changes nothing."""

    def chosen(self) -> dict[str, object]:
        """The values that are not null, by name."""
        names = SamplingChoice.model_fields
        return {name: value for name in names if (value := getattr(self, name)) is not None}
