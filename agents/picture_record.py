"""A picture beside a question, as requests, events and the log carry it: never its bytes. Imports pydantic alone."""

from __future__ import annotations

from math import ceil

from pydantic import BaseModel, ConfigDict

PATCH_PIXELS = 28
"""Side of the square that becomes one token in the Qwen2-VL family; others take fewer tokens for a picture."""


class GivenPicture(BaseModel):
    """A picture beside a question, as the log keeps it."""

    model_config = ConfigDict(frozen=True)

    attachment_id: str
    name: str
    media_type: str
    width: int
    height: int
    sha256: str
    """Hash of its bytes as they are stored, and sent to a model that sees."""
    words: int
    """Words that were read from it."""
    seen: bool
    """Whether the model was sent the picture; if not, it knows the words alone."""

    @property
    def tokens(self) -> int:
        """Upper estimate of what it takes of the context window when it is sent."""
        return ceil(self.width / PATCH_PIXELS) * ceil(self.height / PATCH_PIXELS)
