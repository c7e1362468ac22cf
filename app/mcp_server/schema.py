"""Arguments and results of the tools that Groundwork serves over MCP; their JSON Schemas are what clients see."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agents.answer import Citation, Claim
from app.schema import Text

MAX_READ_CHARS = 50_000
DOCUMENT_URI = "groundwork://documents/{document_id}"

Collections = Annotated[tuple[str, ...], Field(description="Collections to look in; all when empty.", max_length=50)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchArguments(_Arguments):
    """What to look for."""

    query: Annotated[Text, Field(description="Question or words to look for.")]
    limit: int = Field(default=5, ge=1, le=50, description="Most passages.")
    collections: Collections = ()


class AskArguments(_Arguments):
    """What to answer."""

    question: Annotated[Text, Field(description="A question that the documents may answer.")]
    collections: Collections = ()


class ReadArguments(_Arguments):
    """What to read."""

    document_id: str = Field(min_length=1, max_length=64, description="Id of the document, from search or a citation.")
    start: int = Field(default=0, ge=0, description="Character to begin at.")
    max_chars: int = Field(default=20_000, ge=1, le=MAX_READ_CHARS, description="Most characters.")


class Passage(BaseModel):
    """A passage that was found."""

    rank: int
    document_id: str
    chunk_id: str
    uri: str
    """Resource that holds the whole document."""
    title: str
    source: str
    page: int | None
    section: str
    char_start: int
    char_end: int
    text: str


class SearchResult(BaseModel):
    """Passages, best first."""

    passages: list[Passage]


class AskResult(BaseModel):
    """An answer whose claims were checked against stored text."""

    status: str
    """``answered``, ``abstained`` when the documents do not hold the answer, or ``failed``."""
    answer: str
    claims: list[Claim]
    citations: list[Citation]


class ReadResult(BaseModel):
    """A piece of a document's text."""

    document_id: str
    title: str
    source: str
    text: str
    char_start: int
    char_end: int
    total_chars: int
