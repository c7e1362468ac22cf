"""How much of a prompt the model server had read before: second turns of chats, second rounds of an agent.

Chats are led over the sample handbook; every call of the chat model is kept with the server's own counts. Then the
same prompt is sent with another first character, so that nothing of it is in the cache: the time to the first word
with the cache and without it comes from one run. Run as ``python -m evals.prefix_cache --home HOME``.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, NamedTuple

import httpx
import typer

from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.constrained import with_tools
from agents.events import is_terminal
from agents.openai_chat import OpenAIChatModel
from app.approval_schema import DecisionRequest
from app.client import ApiClient
from app.processes import ROOT
from app.schema import RunRequest, ThreadCreate
from app.settings import Settings
from evals.engine.chats import body_of, open_client, timed_chat
from evals.engine.servers import Engine, EngineKind, open_engine
from evals.errors import EvaluationError
from evals.sample_home import open_sample_home

HANDBOOK = ROOT / "samples" / "handbook"
CHATS = (
    ("What is the memory limit of booking-api?", "And what is its memory request?"),
    ("What does exit code 143 tell us?", "And how does it differ from exit code 137?"),
    ("How long is the longest pause before a crashing container is started again?", "And when is it reset?"),
    ("How is a node drained?", "And what if it does not finish?"),
    ("How does a bad rollout get rolled back?", "And who has to be told of it?"),
    ("What is to be done when the queue backlog grows?", "And whom do I call then?"),
    ("Which pods are evicted first under node pressure?", "And which ones are evicted last?"),
    ("Why did my Kubernetes pod restart? Last termination reason: OOMKilled", "And how do I prevent that?"),
)
FACTS = (
    "the orders team owns orders-api", "booking-api is deployed on Mondays", "the queue of mails is drained at night",
    "the staging cluster is called blue", "rates-engine has three replicas", "the database is backed up at noon",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the chat model.

    Attributes:
        messages: The prompt as it went out.
        offered: Whether tools were among it: a round of an agent.
        first_seconds: From sending to the first piece of the reply.
        prompt_tokens: By the server's count.
        cached_tokens: Of them, those that it did not read again.
    """

    messages: tuple[ChatMessage, ...]
    offered: bool
    first_seconds: float
    prompt_tokens: int
    cached_tokens: int

    @property
    def share(self) -> float:
        """Of the prompt, what was in the cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


class KeepingModel:
    """Implements ``ChatModel``: another one whose calls are kept."""

    def __init__(self, model: OpenAIChatModel) -> None:
        self._model = model
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        """Of the other model."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """Of the other model."""
        return self._model.context_tokens

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncGenerator[ChatDelta]:
        """The other model's reply; the call is kept when it has come whole."""
        began, first = perf_counter(), 0.0
        async with aclosing(self._model.stream(messages, sampling, tools=tools)) as deltas:
            async for delta in deltas:
                first = first or perf_counter() - began
                if delta.usage:
                    told = with_tools(messages, tools.tools) if tools else messages
                    used = delta.usage
                    self.calls.append(
                        Call(tuple(told), tools is not None, first, used.prompt_tokens, used.cached_tokens)
                    )
                yield delta

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See ``ChatModel``."""
        return await self._model.count_tokens(texts)

    async def check(self) -> None:
        """See ``ChatModel``."""
        await self._model.check()


class Reuse(NamedTuple):
    """Prompts that follow on another one, and the seconds to their first word with the cache and without it."""

    prompts: int
    cached_share_median: float
    cached_share_least: float
    cached_share_of_all_tokens: float
    first_seconds: float
    first_seconds_without: float


class _Pair(NamedTuple):
    call: Call
    first_seconds: float
    first_seconds_without: float


async def measure(
    engine: Engine, home: Path, *, chats: int, tasks: int, say: Callable[[str], None]
) -> dict[str, Reuse]:
    """Second turns of so many chats, and second rounds of an agent in so many tasks."""
    inner = OpenAIChatModel(
        engine.base_url, name=engine.model, context_tokens=engine.context_tokens, api_key=engine.api_key
    )
    model = KeepingModel(inner)
    settings = Settings(home_path=home)
    turns: list[_Pair] = []
    rounds: list[_Pair] = []
    try:
        async with (
            open_sample_home(settings, HANDBOOK, chat_model=model) as api,
            open_client(engine.headers) as http,
        ):
            anew = _Anew(engine, http)
            for question, follow_up in CHATS[:chats]:
                thread = await _thread(api)
                await _answered(api, thread, question)
                model.calls.clear()
                await _answered(api, thread, follow_up)
                if model.calls:
                    turns.append(await anew.beside(model.calls[-1]))
                    say(f"turn: {turns[-1].call.share:.2f} of {turns[-1].call.prompt_tokens} tokens; {follow_up}")
            for fact in FACTS[:tasks]:
                model.calls.clear()
                await _acted(api, f"Remember this fact with your tool: {fact}.")
                offered = [call for call in model.calls if call.offered]
                if len(offered) > 1:
                    rounds.append(await anew.after(offered[0], offered[1]))
                    say(f"round: {rounds[-1].call.share:.2f} of {rounds[-1].call.prompt_tokens} tokens; {fact}")
    finally:
        await inner.aclose()
    return {"second_turn": _reuse(turns), "second_tool_round": _reuse(rounds)}


class _Anew:
    """Sends prompts once more, beginning in a way that the server has never seen."""

    def __init__(self, engine: Engine, http: httpx.AsyncClient) -> None:
        self._engine = engine
        self._http = http
        self._number = 0

    async def beside(self, call: Call) -> _Pair:
        """The call as it went, and without anything in the cache."""
        self._number += 1
        return _Pair(call, call.first_seconds, await self._first(call))

    async def after(self, before: Call, call: Call) -> _Pair:
        """The call behind the one before it, and without; for calls whose own reply is handed on as one piece."""
        self._number += 1
        await self._first(before)
        warm = await self._first(call)
        self._number += 1
        return _Pair(call, warm, await self._first(call))

    async def _first(self, call: Call) -> float:
        first, *others = call.messages
        changed = (replace(first, content=f"{self._number}. {first.content}"), *others)
        body = body_of(changed, model=self._engine.model, max_tokens=1)
        return (await timed_chat(self._http, self._engine.base_url, body)).first


def _reuse(pairs: Sequence[_Pair]) -> Reuse:
    calls = [pair.call for pair in pairs]
    shares = [call.share for call in calls]
    return Reuse(
        prompts=len(calls),
        cached_share_median=round(statistics.median(shares), 3),
        cached_share_least=round(min(shares), 3),
        cached_share_of_all_tokens=round(
            sum(call.cached_tokens for call in calls) / sum(call.prompt_tokens for call in calls), 3
        ),
        first_seconds=round(statistics.median(pair.first_seconds for pair in pairs), 2),
        first_seconds_without=round(statistics.median(pair.first_seconds_without for pair in pairs), 2),
    )


async def _thread(api: ApiClient) -> str:
    return (await api.create_thread(ThreadCreate())).thread_id


async def _answered(api: ApiClient, thread_id: str, question: str) -> None:
    run = await api.start_run(thread_id, RunRequest(question=question))
    async for event in api.events(run.run_id):
        if is_terminal(event):
            return


async def _acted(api: ApiClient, task: str) -> None:
    """Let the agent act, and approve what it asks for."""
    run = await api.start_run(await _thread(api), RunRequest(question=task, agent="operator"))
    async for event in api.events(run.run_id):
        if is_terminal(event):
            return
        if event.type == "approval_needed":
            decision = DecisionRequest(decision="approve", seen_hash=event.arguments_hash)
            await api.decide(event.call_id, decision)


def main(
    home: Annotated[Path, typer.Option(help="Home with the models, and for vLLM with its environment.")],
    engine: Annotated[EngineKind, typer.Option(help="The model server.")] = "llama.cpp",
    chats: Annotated[int, typer.Option(min=1, max=len(CHATS), help="Chats of two turns.")] = len(CHATS),
    tasks: Annotated[int, typer.Option(min=1, max=len(FACTS), help="Tasks for an agent.")] = len(FACTS),
) -> None:
    """Print the figures as JSON."""

    async def run() -> dict[str, Reuse]:
        async with open_engine(engine, home) as opened:
            return await measure(opened, home, chats=chats, tasks=tasks, say=_say)

    try:
        figures = asyncio.run(run())
    except EvaluationError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(4) from error
    told = {name: reuse._asdict() for name, reuse in figures.items()}
    typer.echo(json.dumps({"engine": engine, **told}, indent=2))


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    typer.run(main)
