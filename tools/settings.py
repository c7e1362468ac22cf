"""Settings of the tool layer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from retrieval.setting_values import FromJson
from tools.policy import DEFAULT_RULES, PolicyRule


class ToolSettings(BaseModel):
    """Tools: where their servers are configured, what may run, how long things wait."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mcp_config: Path | None = None
    """File with the MCP servers; None is ``mcp.json`` in the home folder."""
    policy: Annotated[tuple[PolicyRule, ...], FromJson] = ()
    """Rules in order, as ``[[tools.policy]]`` tables or a JSON list in the environment: ``action`` is ``allow``,
    ``ask`` or ``deny``, ``server``, ``tool`` and ``arguments`` are globs, ``risk`` is a list. A matching deny wins,
    else the first match decides, else the call is asked for. No rules at all: reads are allowed."""
    approval_minutes: float = Field(default=24 * 60, gt=0)
    """A call or a question of a server that nobody decides within this time is over."""
    call_timeout_seconds: float = Field(default=60.0, gt=0)
    """Time limit of one tool call, where the server's entry names none; waiting for a person does not count."""
    listing_seconds: float = Field(default=2.0, gt=0)
    """Longest time that a chat waits for a server to say what tools it has."""

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """The policy in force."""
        return self.policy or DEFAULT_RULES
