"""Bodies of the ledger's own routes: stages of a document, collections as people keep them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ingestion.types import StageRecord


class StageList(BaseModel):
    """The JSON shape of ``documents show ID --stages --json``; the stages that the latest attempt came to, in order."""

    document_id: str
    stages: list[StageRecord]


class CollectionCreate(BaseModel):
    """A collection to create, or to describe anew."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    description: str = Field(default="", max_length=2000)


class CollectionDeleted(BaseModel):
    """Receipt of a deletion; ``chunks_left`` was counted in the store after it."""

    name: str
    documents: int
    """Number of documents that were in it, files inside others counted."""
    chunks_left: int
