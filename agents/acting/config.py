"""Agents as an operator declares them in ``agents.toml``: prompt, tools, team. Nothing runs here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agents.acting.workflow import WorkflowStep
from agents.errors import AgentsInvalid
from agents.prompting import load_prompt

ToolMode: TypeAlias = Literal["auto", "native", "constrained"]
"""``native`` leaves it to the model whether to call a tool; ``constrained`` makes it choose one each time, ``answer``
among them, which small models need; ``auto`` takes what the model setting says."""

OPERATOR = "operator"
"""Name of the agent that is there without any configuration."""


class AgentSpec(BaseModel):
    """One agent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str
    """One sentence for people, and for a supervisor that may hand work to it."""
    prompt: str = ""
    """System prompt; empty takes the built-in one for agents."""
    tools: tuple[str, ...] = ("*",)
    """Globs over the tools' wire names that it may call, ``cluster__get_*`` for example."""
    documents: bool = True
    """Search the documents with the question before anything else."""
    tool_mode: ToolMode = "auto"
    """How the model is made to call tools."""
    max_steps: int = Field(default=8, ge=1, le=50)
    """Most turns of the model; then it must answer with what it has."""
    members: tuple[str, ...] = ()
    """Agents that this one may hand work to; it then is their supervisor."""
    reviewer: str = ""
    """Agent whose prompt judges the answer against its evidence and may send it back once."""
    workflow: tuple[WorkflowStep, ...] = ()
    """Fixed steps instead of the model's choice of tools."""

    def may_call(self, wire_name: str) -> bool:
        """Whether the tool is one of its own."""
        return any(fnmatchcase(wire_name, pattern) for pattern in self.tools)


class AgentCatalog(BaseModel):
    """All agents by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: dict[str, AgentSpec]

    @model_validator(mode="after")
    def _names_exist(self) -> AgentCatalog:
        for name, spec in self.agents.items():
            for other in (*spec.members, *([spec.reviewer] if spec.reviewer else [])):
                if other not in self.agents:
                    raise ValueError(f"agent {name!r} names {other!r}, which is not declared")
                if other == name:
                    raise ValueError(f"agent {name!r} names itself")
            if spec.members and spec.workflow:
                raise ValueError(f"agent {name!r} has members and a workflow; declare one of the two")
            for member in spec.members:
                if self.agents[member].members or self.agents[member].workflow:
                    raise ValueError(f"member {member!r} of {name!r} must be a plain agent")
        return self

    def get(self, name: str) -> AgentSpec | None:
        """The agent of that name."""
        return self.agents.get(name)


def default_catalog() -> AgentCatalog:
    """The agent that is there without any configuration: every tool, documents first."""
    description = "Looks things up in documents and through tools, and proposes changes for approval."
    return AgentCatalog(agents={OPERATOR: AgentSpec(description=description)})


def read_catalog(path: Path) -> AgentCatalog:
    """Agents of a TOML file with a table ``[agents.NAME]`` each, beside the default one; no file is the default alone.

    Raises:
        AgentsInvalid: The file is no TOML or does not fit; the sentence names the place.
    """
    if not path.is_file():
        return default_catalog()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AgentsInvalid(f"{str(path)!r} cannot be read as TOML: {error}.") from error
    return catalog_from(document, where=str(path))


def catalog_from(document: Mapping[str, object], *, where: str) -> AgentCatalog:
    """A catalog from parsed TOML, with the default agent unless it is declared anew.

    Raises:
        AgentsInvalid: It does not fit.
    """
    try:
        declared = AgentCatalog.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "agents"
        raise AgentsInvalid(f"{where!r}: {place}: {first['msg']}.") from error
    return AgentCatalog(agents={**default_catalog().agents, **declared.agents})


def system_prompt(spec: AgentSpec) -> str:
    """What the agent is told before anything else."""
    return spec.prompt.strip() or load_prompt("agent")
