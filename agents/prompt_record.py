"""What a run sent to its model and got back, as it is kept for the next turn. Imports pydantic alone."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PromptMessage(_Value):
    """One message as it was sent."""

    role: Literal["user", "assistant"]
    content: str


class PromptRecord(_Value):
    """What a run added to its prompt, behind system message, examples and the prompt that it goes on from."""

    after: str = ""
    """Run whose prompt and reply stand before; empty for a prompt of its own."""
    messages: tuple[PromptMessage, ...]
    """Earlier turns in words alone, then the question with its passages."""
    written: str = ""
    """The model's reply without its marks."""
