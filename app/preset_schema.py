"""Request and response bodies of presets: pydantic alone, also imported by the UI and the command line."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.sampling_schema import SamplingChoice

MAX_EXAMPLES = 10
"""Most examples of a preset."""
PROMPT_CHARACTERS = 8000
"""Longest system prompt of a preset."""
ExampleText: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
ShortName: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, max_length=64)]
Words: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PresetSampling(_Body, SamplingChoice):
    """How tokens are drawn; what is null is left to the settings."""


class PresetExample(_Body):
    """A question with the answer that it is to get; the model sees both as an earlier turn."""

    question: ExampleText
    answer: ExampleText


class Preset(_Body):
    """How questions are answered, under a name. A field that is empty is left to the request or the settings."""

    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    """What it is for, for people."""
    system_prompt: Annotated[str, StringConstraints(strip_whitespace=True, max_length=PROMPT_CHARACTERS)] = ""
    """Told to the model behind Groundwork's own rules, which it cannot lift."""
    model: ShortName = ""
    """Chat model, of ``GET /api/models``."""
    sampling: PresetSampling = PresetSampling()
    collections: tuple[Words, ...] = Field(default=(), max_length=50)
    """Searched alone."""
    agent: ShortName = ""
    """Agent that acts, of ``GET /api/agents``."""
    tools: tuple[Words, ...] = Field(default=(), max_length=50)
    """Globs over names of tools, ``cluster__get_*`` for example: an agent keeps only those of its tools that match."""
    output_schema: dict[str, JsonValue] | None = None
    """JSON Schema of the object that answers are; not together with an agent."""
    examples: tuple[PresetExample, ...] = Field(default=(), max_length=MAX_EXAMPLES)
    """Shown to the model before the chat; the last ones go first where they do not fit."""


class SavedPreset(BaseModel):
    """A version of a preset."""

    name: str
    version: int
    """From 1, one more with each change; never used twice."""
    current: bool
    """Taken by questions that name the preset alone."""
    saved_at: str
    saved_by: str
    preset: Preset


class PresetList(BaseModel):
    """The current version of every preset, by name."""

    presets: list[SavedPreset]


class PresetHistory(BaseModel):
    """All versions of a preset, newest first."""

    name: str
    versions: list[SavedPreset]


class PresetSwitch(_Body):
    """Make a version the current one again."""

    version: int = Field(ge=1)


class PresetFile(_Body):
    """A preset as a file, without its history."""

    groundwork_preset: Literal[1] = 1
    """Version of this form."""
    name: str
    preset: Preset
