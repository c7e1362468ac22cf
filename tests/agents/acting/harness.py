"""A real acting run on a small scale: a ledger in SQLite, tools that count their effects, a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.acting.config import AgentCatalog, default_catalog
from agents.acting.context import ActingParts
from agents.acting.runner import ActingRunner
from agents.answer import Answer
from agents.chat_model import ChatMessage
from agents.events import AnswerDone, RunEvent, ToolReturned
from agents.request import AnswerRequest
from agents.settings import AgentSettings, AnswerSettings
from agents.testing import ScriptedChatModel
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch
from tools.calls import ToolCall
from tools.function_tool import function_tool
from tools.grants import GrantStore
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger
from tools.policy import DEFAULT_RULES, PolicyRule
from tools.registry import ToolRegistry
from tools.types import Tool, ToolOutput

QUESTION = "Why did the pod orders-api restart, and can you raise its memory limit to 1Gi?"


@dataclass
class Cluster:
    """Tools over a pretend cluster; ``effects`` has one entry for every change that happened."""

    effects: list[str] = field(default_factory=list[str])
    reads: int = 0

    def tools(self) -> list[Tool]:
        async def get_pod(name: str) -> ToolOutput:
            """Show the state of a pod.

            Args:
                name: Name of the pod.
            """
            self.reads += 1
            return ToolOutput(f"Pod {name}: last termination reason OOMKilled, exit code 137, memory limit 512Mi.")

        async def set_memory_limit(name: str, limit: str) -> ToolOutput:
            """Set the memory limit of a deployment.

            Args:
                name: Name of the deployment.
                limit: New limit, 1Gi for example.
            """
            self.effects.append(f"limit {name} {limit}")
            return ToolOutput(f"The memory limit of {name} was set to {limit}.")

        async def restart(name: str) -> ToolOutput:
            """Restart a deployment.

            Args:
                name: Name of the deployment.
            """
            self.effects.append(f"restart {name}")
            return ToolOutput(f"Deployment {name} was restarted.")

        async def delete_pod(name: str) -> ToolOutput:
            """Delete a pod.

            Args:
                name: Name of the pod.
            """
            self.effects.append(f"delete {name}")
            return ToolOutput(f"Pod {name} was deleted.")

        return [
            function_tool(get_pod, risk="read"),
            function_tool(set_memory_limit, risk="write"),
            function_tool(restart, risk="write"),
            function_tool(delete_pod, risk="destructive"),
        ]


@dataclass
class FixedTools:
    """Tools that are always there."""

    tools: Sequence[Tool]

    async def registry(self) -> ToolRegistry:
        return ToolRegistry(self.tools)

    async def find(self, server: str, tool: str) -> Tool | None:
        return next((one for one in self.tools if (one.spec.server, one.spec.name) == (server, tool)), None)


@dataclass
class Bench:
    """One database, one model, and runs over them."""

    engine: AsyncEngine
    model: ScriptedChatModel
    cluster: Cluster = field(default_factory=Cluster)
    extra: Sequence[Tool] = ()
    catalog: AgentCatalog = field(default_factory=default_catalog)
    rules: Sequence[PolicyRule] = DEFAULT_RULES
    texts: Sequence[str] = (CONFIG_MAP, OOM, JOB)
    mode: str = "native"
    settings: AgentSettings | None = None
    saver: BaseCheckpointSaver[str] = field(default_factory=InMemorySaver)
    events: list[RunEvent] = field(default_factory=list[RunEvent])

    def __post_init__(self) -> None:
        self.ledger = ExecutionLedger(self.engine)
        self.grants = GrantStore(self.engine)
        self.leases = ThreadLeases(self.engine, duration=timedelta(seconds=30))
        self.source = FixedTools([*self.cluster.tools(), *self.extra])

    @property
    def parts(self) -> ActingParts:
        return ActingParts(
            retriever=WordSearch(self.texts),
            chat_model=self.model,
            answer=AnswerSettings(),
            settings=self.settings or AgentSettings.model_validate({"tool_mode": self.mode}),
            catalog=self.catalog,
            tools=self.source,
            ledger=self.ledger,
            grants=self.grants,
            rules=self.rules,
            approval_time=timedelta(hours=1),
        )

    def runner(self) -> ActingRunner:
        return ActingRunner(leases=self.leases, checkpointer=self.saver)

    async def attempt(self, request: AnswerRequest | None = None) -> list[RunEvent]:
        """One attempt; its events join those of the attempts before."""
        last = self.events[-1].seq if self.events else 0
        new = [event async for event in self.runner().run(request or ask(), self.parts, last_seq=last)]
        self.events += new
        return new

    async def decide(self, call: ToolCall, decision: str = "approve", *, reason: str = "", **changes: object) -> None:
        await self.ledger.decide(
            call.call_id,
            decision,  # pyright: ignore[reportArgumentType] - tests name decisions by their text
            seen_hash=call.arguments_hash,
            actor="jo",
            reason=reason,
            **changes,  # pyright: ignore[reportArgumentType]
        )

    async def waiting(self) -> list[ToolCall]:
        return await self.ledger.find(states=("pending", "unknown"))


def ask(
    question: str = QUESTION, *, agent: str = "operator", history: tuple[ChatMessage, ...] = (), run: str = "run-1"
) -> AnswerRequest:
    return AnswerRequest(run_id=run, thread_id="thread-1", question=question, agent=agent, history=history)


def types(events: Sequence[RunEvent]) -> list[str]:
    """Kinds of events in order of their first coming."""
    return list(dict.fromkeys(event.type for event in events))


def answer_of(events: Sequence[RunEvent]) -> Answer:
    (done,) = [event for event in events if isinstance(event, AnswerDone)]
    return done.answer


def returned(events: Sequence[RunEvent]) -> list[ToolReturned]:
    return [event for event in events if isinstance(event, ToolReturned)]
