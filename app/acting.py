"""Agents of this home, loaded with the first run that needs one: the graph library, the saver, ``agents.toml``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from agents.acting.config import AgentCatalog, read_catalog
from agents.acting.context import ActingParts, ToolSource
from agents.attachments import NO_ATTACHMENTS, Attachments
from agents.errors import AgentUnknown
from agents.events import RunEvent
from agents.gateway.gateway import ModelGateway
from agents.request import AnswerRequest
from agents.state import PassageSearch
from app.checkpoints import open_checkpoints
from app.schema import AgentInfo, AgentList
from app.settings import Settings
from tools.facts import facts_for_prompt
from tools.grants import GrantStore
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger
from tools.memory import FactStore

if TYPE_CHECKING:
    from agents.acting.runner import ActingRunner

FACT_TOKENS = 200
"""Most tokens of remembered facts in one prompt."""
CHARACTERS_PER_TOKEN = 3
"""Cautious for every script that facts are written in; counting them exactly would ask the model server each turn."""


@dataclass(frozen=True, slots=True)
class ActingNeeds:
    """What runs of agents work with."""

    retriever: PassageSearch
    gateway: ModelGateway
    tools: ToolSource
    ledger: ExecutionLedger
    grants: GrantStore
    leases: ThreadLeases
    facts: FactStore
    attachments: Attachments = NO_ATTACHMENTS


class AgentService:
    """Who can act, and runs of those. Belongs to one event loop."""

    def __init__(self, settings: Settings, needs: ActingNeeds) -> None:
        self._settings = settings
        self._needs = needs
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._runner: ActingRunner | None = None

    def catalog(self) -> AgentCatalog:
        """The agents as declared now; raises ``AgentsInvalid``."""
        return read_catalog(self._settings.agents.file or self._settings.home.agents)

    def list(self) -> AgentList:
        """The declared agents, by name; raises ``AgentsInvalid``."""
        entries = sorted(self.catalog().agents.items())
        return AgentList(
            agents=[
                AgentInfo(name=name, description=spec.description, members=spec.members, workflow=bool(spec.workflow))
                for name, spec in entries
            ]
        )

    async def require_agent(self, name: str) -> None:
        """Raises ``AgentUnknown`` when there is no such agent, ``AgentsInvalid`` when nobody can tell."""
        known = self.catalog().agents
        if name not in known:
            raise AgentUnknown(f"There is no agent {name!r}; there are: {', '.join(sorted(known))}.")

    async def run(self, request: AnswerRequest, *, last_seq: int = 0) -> AsyncGenerator[RunEvent]:
        """Events of one attempt, see ``agents.acting.runner.ActingRunner.run``."""
        runner = await self._loaded()
        async with aclosing(runner.run(request, self._parts(request.model), last_seq=last_seq)) as events:
            async for event in events:
                yield event

    async def forget(self, run_id: str) -> None:
        """Drop the checkpoints of a run that has ended."""
        await (await self._loaded()).forget(run_id)

    async def aclose(self) -> None:
        """Close the saver."""
        await self._stack.aclose()

    async def _loaded(self) -> ActingRunner:
        async with self._lock:
            if self._runner is None:
                runner_class = await asyncio.to_thread(_load)
                saver = await self._stack.enter_async_context(open_checkpoints(self._settings))
                self._runner = runner_class(leases=self._needs.leases, checkpointer=saver)
            return self._runner

    def _parts(self, model: str) -> ActingParts:
        """What one attempt works with; ``agents.toml`` is read anew, so that a change needs no restart."""
        needs, settings = self._needs, self._settings
        tool_mode = needs.gateway.endpoint(model).capabilities.tools if model else None
        return ActingParts(
            retriever=needs.retriever,
            chat_model=needs.gateway.select(model),
            answer=settings.answer,
            settings=settings.agents.model_copy(update={"tool_mode": tool_mode}) if tool_mode else settings.agents,
            catalog=self.catalog(),
            tools=needs.tools,
            ledger=needs.ledger,
            grants=needs.grants,
            rules=settings.tools.rules,
            approval_time=timedelta(minutes=settings.tools.approval_minutes),
            facts=self._facts,
            attachments=needs.attachments,
        )

    async def _facts(self, user: str) -> str:
        facts = await self._needs.facts.list(user)
        return facts_for_prompt(facts, max_tokens=FACT_TOKENS, count=lambda text: len(text) // CHARACTERS_PER_TOKEN + 1)


def _load() -> type[ActingRunner]:
    from agents.acting.runner import ActingRunner

    return ActingRunner
