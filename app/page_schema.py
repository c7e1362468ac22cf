"""Bodies of the API for pages of documents: pydantic alone, also imported by the UI."""

from __future__ import annotations

from pydantic import BaseModel


class BoxView(BaseModel):
    """A rectangle on a page: fractions of its width from the left and of its height from above."""

    left: float
    top: float
    right: float
    bottom: float


class PagePlace(BaseModel):
    """Where a chunk stands on a page, a box for each line; none where its text is not found on the picture."""

    document_id: str
    page: int
    chunk_id: str
    boxes: list[BoxView]
