"""Bodies of the API for questions of MCP servers: pydantic alone, also imported by the UI.

A question's texts, its form and its address are the words of a server: shown as untrusted, never followed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator


class Question(BaseModel):
    """What a server asks a person in the middle of a call."""

    question_id: str
    server: str
    tool: str
    """Tool whose call asks; empty where the server does not say which one it is."""
    call_id: str
    """The call that waits for the answer; empty like ``tool``."""
    run_id: str
    """The call's run; empty like ``tool``."""
    thread_id: str
    message: str
    mode: Literal["form", "url"]
    form: dict[str, JsonValue]
    """JSON Schema of the values of a form: an object with flat properties."""
    url: str
    """Address to open, for the mode ``url``."""
    asked_at: datetime
    expires_at: datetime


class QuestionList(BaseModel):
    """Open questions, oldest first."""

    questions: list[Question]


class QuestionAnswer(BaseModel):
    """A person's answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Literal["accept", "decline", "cancel"]
    """``decline`` is a no; ``cancel`` closes the question without an answer."""
    content: dict[str, JsonValue] = Field(default_factory=dict)
    """Values of an accepted form."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.content and self.action != "accept":
            raise ValueError("send values with an accept, and with nothing else")
        return self
