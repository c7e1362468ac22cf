"""How soon a model server stops when nobody waits for its reply any more.

A run is stopped through the API, the connection of a client is closed, or the process of a client is killed, while the
model reads its prompt or while it writes. Counted is the time until the server's own series say that it works on
nothing. Run as ``python -m evals.engine_cancel --home HOME``.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

import httpx
import typer

from agents.chat_model import ChatMessage
from app.openai_wire import GROUNDED_MODEL
from evals.engine.chats import body_of, open_client, pieces
from evals.engine.platform import RunningApi, open_api
from evals.engine.servers import Engine, EngineKind, open_engine
from evals.errors import EvaluationError, WorldUnusable
from evals.overhead import DOCUMENT

Way: TypeAlias = Literal["stop", "closed", "killed"]
Phase: TypeAlias = Literal["reading", "writing"]

QUESTION = "Write a very long report about the orders service, its limits, probes, rollouts, backups and secrets."
MAX_TOKENS = 400
NOTE_WORDS = 120
"""Words of an earlier turn that no other sample has, so that a prompt has to be read from its beginning."""
PATIENCE_SECONDS = 60.0
MOMENT_SECONDS = 1.0
"""While a prompt is read, the end comes at a random moment of this time."""
_TRIES = 3
_POLL_SECONDS = 0.02
_CLIENT = """
import json, sys, openai
base_url, body = sys.argv[1], json.loads(sys.argv[2])
client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
for chunk in client.chat.completions.create(**body):
    if chunk.choices and chunk.choices[0].delta.content:
        print("word", flush=True)
"""


class Stopped(NamedTuple):
    """Seconds until the server worked on nothing."""

    samples: int
    median: float
    worst: float


Figures: TypeAlias = dict[Way, dict[Phase, Stopped]]


@dataclass(frozen=True, slots=True)
class _Client:
    """A client in the middle of a reply.

    Attributes:
        words: Set once the first words of the reply have come.
        leave: How it goes.
    """

    words: asyncio.Event
    leave: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _World:
    engine: Engine
    api: RunningApi
    engine_http: httpx.AsyncClient
    api_http: httpx.AsyncClient
    draw: random.Random

    async def until_running(self, *, busy: bool) -> float:
        """Seconds until the engine works on something, or on nothing."""
        began = perf_counter()
        async with asyncio.timeout(PATIENCE_SECONDS):
            # Another process has no event to wait for.
            while (await self.engine.running(self.engine_http) > 0) is not busy:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
        return perf_counter() - began


async def measure(engine: Engine, home: Path, *, samples: int, say: Callable[[str], None]) -> Figures:
    """All ways in both phases, in turns, over an API of its own in front of the engine.

    Raises:
        WorldUnusable: The API does not start, or replies end before anybody can stop them.
        TimeoutError: The engine did not stop within ``PATIENCE_SECONDS``.
    """
    seconds: dict[Way, dict[Phase, list[float]]] = {way: {"reading": [], "writing": []} for way in get_args(Way)}
    with tempfile.TemporaryDirectory(prefix="groundwork-cancel-") as folder:
        document = Path(folder) / "orders.md"
        document.write_text(DOCUMENT, encoding="utf-8")
        async with (
            open_api(engine, home, document) as api,
            open_client(engine.headers) as engine_http,
            open_client({}) as api_http,
        ):
            world = _World(engine, api, engine_http, api_http, random.Random(7))
            for number, way, phase in product(range(samples), get_args(Way), get_args(Phase)):
                found = await _sample(world, way, phase)
                seconds[way][phase].append(found)
                say(f"{number + 1}/{samples} {way} while {phase}: {found:.2f} s")
    return {way: {phase: _stopped(found) for phase, found in phases.items()} for way, phases in seconds.items()}


def _stopped(seconds: Sequence[float]) -> Stopped:
    return Stopped(len(seconds), round(statistics.median(seconds), 2), round(max(seconds), 2))


async def _sample(world: _World, way: Way, phase: Phase) -> float:
    for _ in range(_TRIES):
        async with _client(world, way, _body(phase, world.draw)) as client:
            await world.until_running(busy=True)
            if phase == "writing":
                await client.words.wait()
            else:
                await asyncio.sleep(world.draw.uniform(0, MOMENT_SECONDS))
            too_late = phase == "reading" and client.words.is_set()
            leaving = asyncio.ensure_future(client.leave())
            seconds = await world.until_running(busy=False)
            await leaving
        if not too_late:
            return seconds
    raise WorldUnusable("The prompt was read before anybody could leave; the engine is too fast for this measurement.")


def _body(phase: Phase, draw: random.Random) -> dict[str, Any]:
    """A request whose prompt has to be read, or is in the cache."""
    asked = ChatMessage("user", QUESTION)
    if phase == "writing":
        return body_of((asked,), model=GROUNDED_MODEL, max_tokens=MAX_TOKENS)
    note = " ".join("".join(draw.choices("abcdefghij", k=5)) for _ in range(NOTE_WORDS))
    told = (ChatMessage("user", f"Keep this note: {note}"), ChatMessage("assistant", "Kept."), asked)
    return body_of(told, model=GROUNDED_MODEL, max_tokens=MAX_TOKENS)


@asynccontextmanager
async def _client(world: _World, way: Way, body: dict[str, Any]) -> AsyncGenerator[_Client]:
    opened = _process(world.api, body) if way == "killed" else _connection(world, way, body)
    async with opened as client:
        yield client


@asynccontextmanager
async def _connection(world: _World, way: Way, body: dict[str, Any]) -> AsyncGenerator[_Client]:
    words = asyncio.Event()
    run_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def read() -> None:
        async with aclosing(pieces(world.api_http, world.api.base_url, body)) as replies:
            async for piece in replies:
                if not run_id.done():
                    run_id.set_result(piece["id"].removeprefix("chatcmpl-"))
                if any(choice["delta"].get("content") for choice in piece.get("choices", ())):
                    words.set()

    async def stop() -> None:
        await world.api.client.cancel_run(await run_id)

    async def close() -> None:
        reading.cancel()

    reading = asyncio.create_task(read())
    try:
        yield _Client(words, stop if way == "stop" else close)
    finally:
        reading.cancel()
        await asyncio.wait([reading])


@asynccontextmanager
async def _process(api: RunningApi, body: dict[str, Any]) -> AsyncGenerator[_Client]:
    words = asyncio.Event()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _CLIENT, api.base_url, json.dumps(body), stdout=asyncio.subprocess.PIPE
    )

    async def read() -> None:
        assert process.stdout, "spawned with a pipe"
        async for _ in process.stdout:
            words.set()

    async def kill() -> None:
        process.kill()

    reading = asyncio.create_task(read())
    try:
        yield _Client(words, kill)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await reading


def main(
    home: Annotated[Path, typer.Option(help="Home with the models, and for vLLM with its environment.")],
    engine: Annotated[EngineKind, typer.Option(help="The model server.")] = "llama.cpp",
    samples: Annotated[int, typer.Option(min=1, help="Times that each way is tried in each phase.")] = 10,
) -> None:
    """Print median and worst seconds as JSON."""

    async def run() -> Figures:
        async with open_engine(engine, home) as opened:
            return await measure(opened, home, samples=samples, say=lambda text: typer.echo(text, err=True))

    try:
        figures = asyncio.run(run())
    except EvaluationError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(4) from error
    told = {way: {phase: found._asdict() for phase, found in phases.items()} for way, phases in figures.items()}
    typer.echo(json.dumps({"engine": engine, "seconds": told}, indent=2))


if __name__ == "__main__":
    typer.run(main)
