"""What the nodes of the acting graph work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol, TypeAlias

from agents.acting.config import AgentCatalog, AgentSpec
from agents.attachments import NO_ATTACHMENTS, Attachments
from agents.chat_model import ChatModel
from agents.settings import AgentSettings, AnswerSettings
from agents.state import PassageSearch
from tools.grants import GrantStore
from tools.ledger import ExecutionLedger
from tools.policy import PolicyRule
from tools.registry import ToolRegistry
from tools.types import Tool

ResolvedMode: TypeAlias = Literal["native", "constrained"]
FactSource: TypeAlias = Callable[[str], Awaitable[str]]
"""Remembered facts of a user as one text for the prompt; empty without any."""


class ToolSource(Protocol):
    """The tools that may be called now: built-ins and reviewed tools of servers that answer."""

    async def registry(self) -> ToolRegistry:
        """Never raises and never waits long: a server that is down is left out."""
        ...

    async def find(self, server: str, tool: str) -> Tool | None:
        """A tool by its server and its name there, for an approved call: waits for a server that starts slowly."""
        ...


async def no_facts(_user: str) -> str:
    """Nothing is remembered."""
    return ""


@dataclass(frozen=True, slots=True)
class ActingParts:
    """Everything that outlives a run.

    Attributes:
        retriever: Finds passages.
        chat_model: Decides and writes.
        answer: How answers are written.
        settings: Limits of agents.
        catalog: Who acts.
        tools: What may be called.
        ledger: The truth about calls.
        grants: Standing grants.
        rules: The policy, in order.
        approval_time: How long a proposed call waits for a decision.
        facts: Long-term memory.
        attachments: What is attached to threads.
    """

    retriever: PassageSearch
    chat_model: ChatModel
    answer: AnswerSettings
    settings: AgentSettings
    catalog: AgentCatalog
    tools: ToolSource
    ledger: ExecutionLedger
    grants: GrantStore
    rules: Sequence[PolicyRule]
    approval_time: timedelta
    facts: FactSource = no_facts
    attachments: Attachments = NO_ATTACHMENTS


@dataclass(frozen=True, slots=True)
class ActingContext:
    """One attempt at a run."""

    parts: ActingParts
    runner: str
    """Name of this attempt in the ledger; a dead one's started calls are unknown."""
    started: float
    """``time.perf_counter()`` at the start of the attempt."""

    def agent(self, name: str) -> AgentSpec:
        """The agent; the catalog was asked before the run began."""
        return self.parts.catalog.agents[name]

    def mode(self, spec: AgentSpec) -> ResolvedMode:
        """How this agent's model is made to call tools."""
        if spec.tool_mode != "auto":
            return spec.tool_mode
        return self.parts.settings.tool_mode
