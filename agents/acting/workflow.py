"""Workflows: fixed steps that an agent goes through, declared in ``agents.toml``. Values only."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue


class _Step(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Later steps use the step's result as ``{name}``."""
    when: dict[str, str] = Field(default_factory=dict[str, str])
    """Run only if these earlier steps had these results."""


class ClassifyStep(_Step):
    """The model chooses one of the labels."""

    kind: Literal["classify"]
    labels: tuple[str, ...] = Field(min_length=2)
    instruction: str = "Which label fits the request best?"


class RetrieveStep(_Step):
    """Search the documents; what is found is evidence for later steps."""

    kind: Literal["retrieve"]
    query: str = "{question}"


class DraftStep(_Step):
    """The model writes a text from the evidence so far."""

    kind: Literal["draft"]
    instruction: str


class ReviewStep(_Step):
    """A person reads a text, and approves, edits or rejects it; a rejection ends the workflow."""

    kind: Literal["review"]
    text: str = "{draft}"


class SendStep(_Step):
    """A tool is called; policy and approval decide as for any call."""

    kind: Literal["send"]
    tool: str
    """Wire name of the tool."""
    arguments: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Its arguments; ``{name}`` inside texts takes results."""


WorkflowStep: TypeAlias = Annotated[
    ClassifyStep | RetrieveStep | DraftStep | ReviewStep | SendStep, Field(discriminator="kind")
]
