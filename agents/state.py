"""State and dependencies of the answer graph. Values only; each node returns the fields it decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from agents.answer import Abstention, ContextReport, Usage
from agents.attachments import NO_ATTACHMENTS, Attachments
from agents.chat_model import ChatMessage, ChatModel
from agents.citations import ProvedAnswer
from agents.draught import Draught
from agents.pictures import NO_PICTURES, PromptPictures
from agents.prompt_record import PromptRecord
from agents.proof.evidence import Evidence, prepare
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from retrieval.embedders.protocol import Embedder
from retrieval.types import Chunk, Hit, SearchFilter, SearchResult


class PassageSearch(Protocol):
    """Finds passages for a query; ``retrieval.search.Retriever`` and the in-memory one of the tests. Blocks."""

    def search(self, query: str, *, search_filter: SearchFilter = ..., limit: int | None = None) -> SearchResult:
        """Hits in final order, best first; none when nothing matched."""
        ...


class PassageStore(Protocol):
    """What the graph asks of the store itself; ``retrieval.store.protocol.VectorStore``. Blocks."""

    def count(self, search_filter: SearchFilter) -> int:
        """Number of chunks that the filter lets through."""
        ...

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        """Chunks that the filter lets through, ordered by document and position."""
        ...


class SearchedIndex(NamedTuple):
    """What stands behind a search, as far as the graph asks for it."""

    store: PassageStore
    embedder: Embedder | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What nodes work with."""

    retriever: PassageSearch
    chat_model: ChatModel
    settings: AnswerSettings
    started: float
    """``time.perf_counter()`` at the start of the run."""
    attachments: Attachments = NO_ATTACHMENTS
    """Reads what is attached to a thread."""
    store: PassageStore | None = None
    """The store behind ``retriever``; without one, no filter is read from words and no neighbour joins a hit."""
    embedder: Embedder | None = None
    """The one of the store; without it, learned weights of abstention are not used."""


@dataclass(frozen=True, slots=True)
class AnswerState:
    """One run on its way through the graph; None and empty: not decided yet."""

    request: AnswerRequest
    query: str = ""
    hits: tuple[Hit, ...] = ()
    """Best first; the prompt takes its passages from them."""
    observed: tuple[Hit, ...] = ()
    """Results of tools as passages; they come before all others and are reason enough to answer."""
    attached: tuple[Hit, ...] = ()
    """Passages of texts attached to the thread; they come first and are reason enough to ask the model."""
    pictures: PromptPictures = NO_PICTURES
    """Pictures beside the question; they are reason enough to ask the model."""
    instruction: str = ""
    """How the answer is to be written, beside the standing rules."""
    spent: Usage = field(default_factory=Usage)
    """Tokens of the run before the answer."""
    top_cosine: float | None = None
    """Best cosine of all that the search returned."""
    lead: float = 2.0
    """Best cosine less the tenth best; 2 where it is not known."""
    doubt: float | None = None
    """Probability that there is no answer, by learned weights; None without them."""
    rewrite_ms: float = 0.0
    retrieve_ms: float = 0.0
    passages: tuple[Hit, ...] = ()
    """Hits that are in the prompt, in prompt order."""
    evidence: Evidence = field(default_factory=lambda: prepare(()))
    messages: tuple[ChatMessage, ...] = ()
    prompt: PromptRecord | None = None
    """What of ``messages`` is new, for the next turn; None where nothing was sent."""
    report: ContextReport = field(default_factory=ContextReport)
    draught: Draught = field(default_factory=Draught)
    output: Mapping[str, JsonValue] | None = None
    """The object that was asked for by a schema; the draught is its text."""
    proved: ProvedAnswer | None = None
    picture_claims: tuple[int, ...] = ()
    """Places of the proved claims that stand in a picture and in no document."""
    abstention: Abstention | None = None
