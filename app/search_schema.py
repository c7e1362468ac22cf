"""Bodies of the search: what is asked, what is found, and why; also imported by the UI and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agents.answer import Abstention, ContextReport, QueryKind
from app.schema import Text
from retrieval.explanation import HitExplanation, SearchExplanation
from retrieval.filter_words import FilterKind

MAX_DROPPED = 20
"""Most filters that one request names to be left out."""


class SearchRequest(BaseModel):
    """A search without an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Text
    collections: tuple[str, ...] = ()
    filter: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Metadata that must match; ``source`` compares with the document's source."""
    limit: int = Field(default=10, ge=1, le=100)
    explain: bool = False
    """Say of each hit, and of the whole search, how it came out; costs a search for each word."""
    context: bool = False
    """Search as the chat does and fill its prompt: says which hits would enter it. Needs the chat model's tokenizer."""
    thread_id: str = ""
    """Thread that the query is asked in, for ``context``: a follow-up is made self-contained from its turns."""
    read_filters: bool = True
    """Whether words such as "in the runbooks collection" become filters."""
    drop_filters: tuple[str, ...] = Field(default=(), max_length=MAX_DROPPED)
    """Names of filters that were read from the words and are not to act, of an earlier response."""


class SearchScores(BaseModel):
    """Scores and ranks of one hit, see ``retrieval.types.HitScores``."""

    dense: float | None
    dense_rank: int | None
    bm25: float | None
    bm25_rank: int | None
    fused: float
    rerank: float | None


PromptReason: TypeAlias = Literal["budget", "duplicate", "weak_evidence", "not_looked_at"]
"""Why a hit stays out of the prompt: no room, another says the same, the evidence as a whole is too weak to ask the
model, or it stands below what the chat looks at."""
PROMPT_REASONS: Mapping[PromptReason, str] = {
    "budget": "no room left",
    "duplicate": "says the same as another",
    "weak_evidence": "too little evidence to ask the model",
    "not_looked_at": "stands too low",
}
"""The reasons as people read them, behind words of the page's own."""
LEG_WORDS = {"dense": "meaning", "bm25": "words"}
"""What people are told the legs go by."""


class PromptPlace(BaseModel):
    """Whether a hit would enter the prompt of the chat."""

    number: int | None = None
    """Its number there; None for one that stays out."""
    tokens: int | None = None
    """What it takes, or would take, in tokens of the chat model; None where it was not counted."""
    reason: PromptReason | None = None


class SearchHit(BaseModel):
    """One hit of ``search --json``."""

    rank: int
    chunk_id: str
    document_id: str
    source: str
    title: str
    page: int | None
    section: str
    char_start: int
    char_end: int
    text: str
    scores: SearchScores
    matched_terms: list[str] = Field(default_factory=list)
    explanation: HitExplanation | None = None
    """With ``explain``: what put the hit at its rank."""
    prompt: PromptPlace | None = None
    """With ``context``: whether it would enter the prompt."""


class ReadFilterInfo(BaseModel):
    """A filter that was read from the words of the query."""

    name: str
    """What it says, such as ``collection=runbooks``; give it to ``drop_filters`` to search without it."""
    kind: FilterKind
    words: str
    """The words that it was read from."""
    applied: bool
    """False where it was dropped, or would have left nothing."""


class SearchQuery(BaseModel):
    """A query that the chat would search for beside the question as typed."""

    query: str
    kind: QueryKind
    by: Literal["rules", "model"] = "rules"


class PromptPreview(BaseModel):
    """How the chat would go on from this search."""

    queries: tuple[SearchQuery, ...] = ()
    report: ContextReport
    abstention: Abstention | None = None
    """There when it would withhold the answer before the model is asked."""


class SearchNotice(BaseModel):
    """A step that was left out of the search; ``detail`` is one sentence for people."""

    code: str
    detail: str


class SearchResponse(BaseModel):
    """The JSON shape of ``search --json``."""

    query: str
    """As typed."""
    searched: str = ""
    """What was searched for: the query without the words that became filters, or made self-contained."""
    hits: list[SearchHit]
    filters: tuple[ReadFilterInfo, ...] = ()
    warnings: tuple[SearchNotice, ...] = ()
    explanation: SearchExplanation | None = None
    context: PromptPreview | None = None
    timings_ms: dict[Literal["embed", "search", "rerank", "total"], float]
