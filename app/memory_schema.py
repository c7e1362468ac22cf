"""Bodies of the API for long-term memory: pydantic alone, also imported by the UI and the command line."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, StringConstraints

from tools.facts import MAX_FACT_CHARS, Fact

FactText: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_FACT_CHARS)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FactCreate(_Body):
    """A fact that a person adds."""

    text: FactText
    pinned: bool = False


class FactEdit(_Body):
    """What changes of a fact; what is left out stays."""

    text: FactText | None = None
    pinned: bool | None = None


class FactList(BaseModel):
    """The JSON shape of ``memory list --json``: pinned facts first, then the latest."""

    facts: list[Fact]
    max_facts: int
    """How many are kept of one user."""
