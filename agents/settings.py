"""Settings of the agent layer: data only, unknown keys forbidden."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class ModelSettings(BaseModel):
    """The chat model: the embedded llama.cpp server, or any OpenAI-compatible server by ``base_url``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str | None = None
    """Address that ends in ``/v1``, of vLLM for example; None starts the embedded model server."""
    name: str = "qwen2.5-coder-1.5b-instruct"
    """Model name as the server knows it; for the embedded server, a chat model of the model store."""
    api_key: SecretStr | None = None
    """Key of the server behind ``base_url``."""
    context_tokens: int = Field(default=4096, ge=1024)
    """Context window of one request."""
    threads: int = Field(default=0, ge=0)
    """Threads of the embedded server; 0 takes one per physical core."""
    parallel: int = Field(default=1, ge=1)
    """Requests that the embedded server answers at once; each has a context window of its own."""
    connect_timeout_seconds: float = Field(default=5.0, gt=0)
    """Time limit to reach the server."""
    first_token_timeout_seconds: float = Field(default=300.0, gt=0)
    """Longest wait for the first token."""
    token_timeout_seconds: float = Field(default=60.0, gt=0)
    """Longest wait between two tokens."""


class AnswerSettings(BaseModel):
    """How questions are answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_tokens: int = Field(default=400, gt=0)
    """Longest answer."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """0 takes the likeliest token."""
    evidence_tokens: int = Field(default=1400, gt=0)
    """Most tokens of passages in one prompt; a CPU reads about 70 a second."""
    evidence_passages: int = Field(default=6, gt=0)
    """Most passages in one prompt."""
    history_tokens: int = Field(default=600, ge=0)
    """Most tokens of earlier turns in one prompt."""
    unsupported: Literal["mark", "remove"] = "mark"
    """What becomes of a claim without support: marked in the answer, or removed from it."""


class AgentSettings(BaseModel):
    """How agents act through tools."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Path | None = None
    """Declaration of agents; None is ``agents.toml`` in the home folder."""
    tool_mode: Literal["native", "constrained"] = "constrained"
    """``constrained`` makes the model choose a tool each time, ``answer`` among them, as small models need; ``native``
    leaves the choice to a model that is trained for it."""
    max_seconds: float = Field(default=900.0, gt=0)
    """Longest stretch of work; each wait for a person begins a new one."""
    max_calls_per_turn: int = Field(default=8, ge=1, le=50)
    """Calls taken from one turn of the model; those beyond are refused with a sentence it can read."""
    max_tokens_per_turn: int = Field(default=512, ge=64)
    """Longest turn of the model, arguments of calls included."""
    result_tokens: int = Field(default=700, ge=50)
    """Most tokens of one tool result in the prompt; the whole result is kept."""
