"""Settings of the agent layer: data only, unknown keys forbidden."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from retrieval.setting_values import Words


class ModelServerSettings(BaseModel):
    """What is said of every server of a chat model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: SecretStr | None = None
    """Key of the server behind ``base_url``; it never leaves this process."""
    context_tokens: int = Field(default=4096, ge=1024)
    """Context window of one request; at most that of the server."""
    connect_timeout_seconds: float = Field(default=5.0, gt=0)
    """Time limit to reach the server."""
    first_token_timeout_seconds: float = Field(default=300.0, gt=0)
    """Longest wait for the first token."""
    token_timeout_seconds: float = Field(default=60.0, gt=0)
    """Longest wait between two tokens."""
    fallback: Words = ()
    """Names of ``[endpoints.NAME]`` that stand in when this model does not answer, in order."""
    retries: int = Field(default=2, ge=0, le=10)
    """Times that a busy server (503 or 429) is asked again, after growing pauses."""
    images: bool | None = None
    """Whether the model sees pictures; None asks the server. The embedded server does not."""


class ModelSettings(ModelServerSettings):
    """The chat model: the embedded llama.cpp server, or any OpenAI-compatible server by ``base_url``."""

    base_url: str | None = None
    """Address that ends in ``/v1``, of vLLM for example; None starts the embedded model server."""
    name: str = "qwen2.5-coder-1.5b-instruct"
    """Model name as the server knows it; for the embedded server, a chat model of the model store."""
    threads: int = Field(default=0, ge=0)
    """Threads of the embedded server; 0 takes one per physical core."""
    parallel: int = Field(default=1, ge=1)
    """Requests that the embedded server answers at once; each has a context window of its own."""
    batch_tokens: int = Field(default=8, ge=1, le=2048)
    """Tokens of one step of the embedded server; 16 read a third faster, and stop up to half a second later."""


class EndpointSettings(ModelServerSettings):
    """One more chat model, behind an OpenAI-compatible server; ``[endpoints.NAME]`` in the configuration."""

    base_url: str
    """Address that ends in ``/v1``."""
    model: str
    """Model name as the server knows it; a LoRA adapter has one of its own."""
    max_concurrent: int = Field(default=0, ge=0)
    """Requests on their way at once, the others wait; 0 sets no limit."""
    tools: Literal["native", "constrained"] | None = None
    """How the model is made to call tools; None asks the server."""
    structured: bool | None = None
    """Whether the server holds a reply to a JSON Schema; None asks the server."""


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
    rewrite: Literal["auto", "model", "rules", "off"] = "auto"
    """How a follow-up is made self-contained: ``rules`` join the topic of earlier turns, ``model`` asks the chat model,
    ``auto`` takes the rules, and the model once where they found too little, ``off`` searches the question as it is."""
    rewrite_seconds: float = Field(default=10.0, gt=0)
    """Longest wait for a query of the chat model; then the rules write it."""
    max_queries: int = Field(default=4, ge=1, le=8)
    """Most searches for one answer: the question, its parts, and once more when too little was found."""
    filters_from_words: bool = True
    """Whether words such as "in the runbooks collection" narrow the search; dropped when too little is found."""
    neighbours: int = Field(default=0, ge=0)
    """Best hits that the chunks before and after them join in the prompt, in place of weaker hits."""
    may_refuse: bool = False
    """Whether a model with evidence that is strong enough is told that it may find no answer there. Small models then
    refuse what they could answer; large ones know. With weak evidence (an attached text alone) it is always told."""
    quote_unproved: bool = True
    """Whether an answer of which nothing is proved gives way to the one sentence that holds the question."""
    abstention_file: Path | None = None
    """Thresholds of abstention fitted to your corpus by ``python -m evals.abstention``; None takes those shipped."""
    unsupported: Literal["mark", "remove", "abstain"] = "mark"
    """What becomes of a claim without support: marked in the answer, removed from it, or the answer is withheld."""
    judge: Literal["none", "nli", "model"] = "none"
    """Who reads claims beside their quotes after the proof, and may lower a verdict: nobody, a cross-encoder for
    natural language inference, or the chat model."""
    judge_model: str = "cross-encoder/nli-deberta-v3-xsmall"
    """Cross-encoder of ``nli``: a folder, or the id of one that was fetched before."""
    judge_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for the opinions of the chat model; then the proof stands alone."""


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
