"""The answer as people, the API and the evals see it: the JSON shape of ``ask --json``. Imports pydantic alone."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Verdict: TypeAlias = Literal["verified", "partial", "unsupported"]
Opinion: TypeAlias = Literal["supports", "unsure", "contradicts"]
"""What a second judge says of a claim and its quotes."""
QueryKind: TypeAlias = Literal["follow_up", "filtered", "picture", "part", "again"]
"""Why a query is not the question: its topic stands in earlier turns, words of it became filters, words of a picture
join it, it is one of several things that were asked, or the first search found too little."""
AnswerStatus: TypeAlias = Literal["answered", "abstained", "failed"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Claim(_Value):
    """One statement of the answer and what the stored text says of it."""

    text: str
    verdict: Verdict
    citations: tuple[int, ...] = ()
    """Numbers of the citations that carry it; empty for ``unsupported``."""
    char_start: int = 0
    """Offset of the claim in the answer text."""
    char_end: int = 0
    explanation: str = ""
    """Why this verdict, for a person: what was found or what differs."""


class Citation(_Value):
    """A quoted span of stored text, ``text[char_start:char_end] == quote``.

    The text is a document's, a tool result's, or one that is attached to the thread.
    """

    number: int
    """One-based, given by the server, in order of first use in the answer."""
    document_id: str
    chunk_id: str
    source: str
    title: str
    page: int | None = None
    section: str = ""
    quote: str
    char_start: int
    char_end: int
    call_id: str = ""
    """Tool call whose stored result the quote is from; the offsets then count in that result."""
    attachment_id: str = ""
    """Text attached to the thread that the quote is from; the offsets then count in that text."""


class DroppedEvidence(_Value):
    """A passage that was found and did not enter the prompt."""

    chunk_id: str
    source: str
    tokens: int
    reason: Literal["budget", "duplicate"]


class BudgetUse(_Value):
    """Tokens of the chat model, by what they were spent on."""

    system: int = 0
    memory: int = 0
    """Facts that are remembered of the person; agents alone are told them."""
    history: int = 0
    evidence: int = 0
    """Passages, with the question that stands among them."""
    pictures: int = 0
    """Pictures that the model was sent, by an upper estimate."""
    tools: int = 0
    """Definitions of tools, and what calls have brought so far."""
    reserve: int = 0
    """Kept free for the answer."""


class ContextReport(_Value):
    """How the context window was filled."""

    budget_tokens: int = 0
    used: BudgetUse = BudgetUse()
    dropped: tuple[DroppedEvidence, ...] = ()
    dropped_turns: tuple[str, ...] = ()
    """Questions of earlier turns that did not fit, oldest first; a line about the latest of them is in the prompt."""
    dropped_steps: int = 0
    """Earliest steps of an agent that did not fit."""
    dropped_examples: int = 0
    """Last examples of a preset that did not fit; those that did are counted with the system prompt."""


class Usage(_Value):
    """Token counts as reported by the model server."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


class AnswerTimings(_Value):
    """Milliseconds; ``ttft`` is from the start of the run to the first token, None when none came."""

    rewrite: float = 0.0
    retrieve: float = 0.0
    queue: float = 0.0
    """Waited here for a free place at the model, see ``max_concurrent``; a queue of its server shows in ``ttft``."""
    ttft: float | None = None
    total: float = 0.0


class NearestPassage(_Value):
    """What stood nearest when the answer was withheld."""

    document_id: str
    chunk_id: str
    source: str
    title: str
    section: str = ""
    cosine: float | None = None


class Abstention(_Value):
    """Why there is no answer."""

    reason: Literal["no_documents", "weak_evidence", "unsupported_answer"]
    searched: str
    """What was searched: the query and the collections."""
    nearest: tuple[NearestPassage, ...] = ()


class Answer(_Value):
    """The whole result of a run."""

    status: AnswerStatus
    answer: str
    """Markdown with markers ``[n]`` that the server set; for ``failed`` one sentence that says what to do."""
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    abstention: Abstention | None = None
    context: ContextReport = ContextReport()
    usage: Usage = Usage()
    timings_ms: AnswerTimings = AnswerTimings()
    tokens_per_second: float | None = None
    output: dict[str, JsonValue] | None = None
    """The object that was asked for by a schema; ``answer`` then lists its values, each proved in ``claims``."""
    picture_claims: tuple[int, ...] = ()
    """Places of the ``claims`` that no document holds and that stand in words read from a picture of the question."""
    repairs: int = 0
    """Times that the model was shown what is wrong with its object before it fitted."""
    truncated: bool = False
    """The model reached its longest answer before its end; a run that ``continues`` this one goes on."""
    dropped_markers: int = 0
    """Markers the model wrote that point nowhere."""
    model: str = ""
    run_id: str
    thread_id: str


class FoundPassage(_Value):
    """A hit as events carry it: enough to show, without the vectors."""

    rank: int = Field(ge=1)
    chunk_id: str
    document_id: str
    source: str
    title: str
    page: int | None = None
    section: str = ""
    char_start: int
    char_end: int
    text: str
    dense: float | None = None
    dense_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float = 0.0
    rerank: float | None = None
    attachment_id: str = ""
    """Text attached to the thread that the passage is from; ``bm25`` then ranks it among those texts alone."""
