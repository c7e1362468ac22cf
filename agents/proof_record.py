"""What a proof was made from, so that it can be made again: words, passages and marks. Imports pydantic alone."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from agents.answer import Opinion


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidencePassage(_Value):
    """A passage that the model was given, with all of it that the rules look at."""

    chunk_id: str
    document_id: str
    """Document, call or attachment that it is of."""
    collection: str = ""
    """Collection of the document, or the name that stands in its place for tool results and attached texts."""
    version: str = ""
    """Version of the document that the passage is of."""
    source: str
    title: str
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    context: str = ""
    text: str
    char_start: int
    """Offset of the text in the stored text of what it is of."""
    char_end: int


class CitedMarker(_Value):
    """Numbers that the model wrote, and where in its words without marks."""

    offset: int
    numbers: tuple[int, ...]


class ProofRecord(_Value):
    """The whole input of one proof."""

    question: str
    draft: str
    """The model's words without its marks."""
    markers: tuple[CitedMarker, ...] = ()
    passages: tuple[EvidencePassage, ...] = ()
    """In the order of the prompt."""
    removed_unsupported: bool = False
    """Whether claims without support were taken out of the answer."""
    opinions: tuple[Opinion | None, ...] = ()
    """Of a second judge, one a claim in their order, None for claims it did not read; empty without a judge."""
