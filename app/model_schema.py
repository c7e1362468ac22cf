"""Bodies of the API for chat models: pydantic alone, also imported by the UI."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class ChatModelInfo(BaseModel):
    """A chat model that runs can be given to; null: nobody has said, and its server has not been asked yet."""

    name: str
    default: bool
    """Taken when a run names none."""
    server: Literal["vllm", "llama.cpp", "other"]
    """By what the server calls itself."""
    state: Literal["ready", "held_back"]
    """``held_back``: it failed several times in a row and is left alone for a moment."""
    context_tokens: int | None
    tools: Literal["native", "constrained"] | None
    """How the model is made to call tools."""
    structured: bool | None
    """The server holds a reply to a JSON Schema."""
    images: bool | None
    """The model reads pictures."""
    fallback: tuple[str, ...]
    """Models that stand in for it, in order."""
    server_models: tuple[str, ...]
    """Names that its server lists, LoRA adapters among them; each can be made an endpoint of its own."""


class ChatModelList(BaseModel):
    """Chat models, the default one first."""

    models: list[ChatModelInfo]
