"""What the platform adds to a chat: the same prompts sent to the model server directly and through ``/v1``, in turns.

There is one document of one passage, so that its search is a small part, which is told apart too; every request is
grounded and proved as always. Each prompt is sent once before it counts, so that both sides find it in the server's
prefix cache: what is added is then not hidden behind the reading of the prompt. Run as
``python -m evals.overhead --home HOME``.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, NamedTuple

import httpx
import typer

from agents.chat_model import ChatMessage
from agents.context import draft, pack
from agents.settings import AnswerSettings
from app.openai_wire import GROUNDED_MODEL
from evals.engine.chats import Timed, body_of, open_client, timed_chat
from evals.engine.platform import RunningApi, open_api
from evals.engine.servers import Engine, EngineKind, open_engine
from evals.errors import EvaluationError, WorldUnusable
from retrieval.types import Chunk, Hit, HitScores

DOCUMENT = """# Orders service

The orders service takes orders from the web shop and writes them to the orders database. Its memory limit is 512 MiB
and its CPU limit is 500m. It is restarted by the kubelet when its liveness probe fails three times. Its readiness probe
asks for the state of the database connection every ten seconds. A rollout replaces one pod at a time and stops when a
new pod is not ready within five minutes. The team Checkout owns it and is called when the queue of unsent mails is
longer than two hundred. Its backups are made every night and are kept for thirty days. Its secrets are rotated every
ninety days.
"""
TOPICS = (
    "the memory limit and the CPU limit", "the liveness probe", "the readiness probe", "a rollout of the service",
    "the orders database and its limits", "the queue of unsent mails", "the backups", "the restarts by the kubelet",
    "the orders database",
    "the pods of the service",
)  # fmt: skip
FORMS = (
    "Describe the orders service, above all {}, in at least four complete sentences.",
    "What does a new colleague have to know of the orders service? Begin with {}, then tell all the rest.",
    "Write a long summary of the orders service that begins with {}.",
    "Explain in detail how the orders service is run; {} comes first.",
    "Tell me everything about the orders service, first {}, then all other facts.",
)
PAIRS_AT_ONCE = 4
"""Times that the chats at once are played on each side."""


class Added(NamedTuple):
    """What the platform adds, over pairs of the same prompt."""

    pairs: int
    direct_first_ms: float
    platform_first_ms: float
    added_first_ms_p50: float
    added_first_ms_p95: float
    search_ms_p50: float
    """Of what is added: embedding the question and searching, as the runs themselves say."""
    added_first_ms_p50_without_search: float
    direct_total_ms: float
    added_total_ms_p50: float
    added_total_share: float
    """Of all totals together."""


class _Pair(NamedTuple):
    """Both replies to one prompt, and seconds of the second one's search."""

    direct: Timed
    platform: Timed
    search: float


class AtOnce(NamedTuple):
    """Chats at once: tokens that all of them wrote, per second."""

    chats: int
    direct_tokens_per_second: float
    platform_tokens_per_second: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    prompts: int = 50
    max_tokens: int = 64
    chats: int = 8
    rounds: int = 3


async def measure(engine: Engine, home: Path, plan: Plan, *, say: Callable[[str], None]) -> tuple[Added, AtOnce]:
    """Both measurements over an API of its own in front of the engine."""
    with tempfile.TemporaryDirectory(prefix="groundwork-overhead-") as folder:
        document = Path(folder) / "orders.md"
        document.write_text(DOCUMENT, encoding="utf-8")
        async with (
            open_api(engine, home, document) as api,
            open_client(engine.headers) as direct,
            open_client({}) as platform,
        ):
            sides = _Sides(engine, api, await _passage(api), direct, platform, plan.max_tokens)
            questions = [form.format(topic) for form in FORMS for topic in TOPICS][: plan.prompts]
            added = await _pairs(sides, questions, say)
            return added, await _at_once(sides, questions, plan, say)


@dataclass(frozen=True, slots=True)
class _Sides:
    engine: Engine
    api: RunningApi
    passage: Hit
    engine_http: httpx.AsyncClient
    api_http: httpx.AsyncClient
    max_tokens: int

    def prompt(self, question: str) -> tuple[ChatMessage, ...]:
        """What the platform sends for this question."""
        candidates = draft(question, (), (self.passage,))
        counts = [0] * len(candidates.texts())
        packed = pack(candidates, counts, settings=AnswerSettings(), context_tokens=4096, max_tokens=self.max_tokens)
        return packed.messages

    async def direct(self, question: str, *, max_tokens: int = 0) -> Timed:
        """The reply of the model server itself."""
        body = body_of(self.prompt(question), model=self.engine.model, max_tokens=max_tokens or self.max_tokens)
        return await timed_chat(self.engine_http, self.engine.base_url, body)

    async def platform(self, question: str) -> Timed:
        """The reply through the platform."""
        body = body_of((ChatMessage("user", question),), model=GROUNDED_MODEL, max_tokens=self.max_tokens)
        return await timed_chat(self.api_http, self.api.base_url, body)

    async def search_seconds(self, reply: Timed) -> float:
        """What the run behind a reply of the platform spent on its search."""
        run = await self.api.client.run(reply.reply_id.rpartition("-")[2])
        if run.answer is None:
            raise WorldUnusable(f"The run {run.run_id} has no answer.")
        return run.answer.timings_ms.retrieve / 1000


async def _pairs(sides: _Sides, questions: Sequence[str], say: Callable[[str], None]) -> Added:
    pairs: list[_Pair] = []
    for number, question in enumerate(questions):
        await sides.direct(question, max_tokens=1)
        if number % 2:
            platform = await sides.platform(question)
            direct = await sides.direct(question)
        else:
            direct = await sides.direct(question)
            platform = await sides.platform(question)
        if direct.prompt_tokens != platform.prompt_tokens:
            raise WorldUnusable(
                f"The platform sent {platform.prompt_tokens} tokens where {direct.prompt_tokens} were sent directly;"
                " the prompts are not the same."
            )
        if direct.completion_tokens == platform.completion_tokens:
            pairs.append(_Pair(direct, platform, await sides.search_seconds(platform)))
        say(f"{number + 1}/{len(questions)}")
    return _added(pairs)


def _added(pairs: Sequence[_Pair]) -> Added:
    first = sorted(1000 * (pair.platform.first - pair.direct.first) for pair in pairs)
    total = [1000 * (pair.platform.total - pair.direct.total) for pair in pairs]
    return Added(
        pairs=len(pairs),
        direct_first_ms=_median(1000 * pair.direct.first for pair in pairs),
        platform_first_ms=_median(1000 * pair.platform.first for pair in pairs),
        added_first_ms_p50=_median(first),
        added_first_ms_p95=round(first[int(0.95 * (len(first) - 1))], 1),
        search_ms_p50=_median(1000 * pair.search for pair in pairs),
        added_first_ms_p50_without_search=_median(
            1000 * (pair.platform.first - pair.direct.first - pair.search) for pair in pairs
        ),
        direct_total_ms=_median(1000 * pair.direct.total for pair in pairs),
        added_total_ms_p50=_median(total),
        added_total_share=round(sum(total) / sum(1000 * pair.direct.total for pair in pairs), 4),
    )


async def _at_once(sides: _Sides, questions: Sequence[str], plan: Plan, say: Callable[[str], None]) -> AtOnce:
    speeds: dict[str, list[float]] = {"direct": [], "platform": []}
    # Not counted: whoever comes first reads the prompts into the server's places.
    await asyncio.gather(*(_chats(sides.direct, questions, plan, number) for number in range(plan.chats)))
    for turn in range(PAIRS_AT_ONCE):
        order = ("direct", "platform") if turn % 2 == 0 else ("platform", "direct")
        for side in order:
            chat = sides.direct if side == "direct" else sides.platform
            began = perf_counter()
            told = await asyncio.gather(*(_chats(chat, questions, plan, number) for number in range(plan.chats)))
            speeds[side].append(sum(told) / (perf_counter() - began))
            say(f"{plan.chats} at once, {side}: {speeds[side][-1]:.1f} tokens/s")
    direct, platform = (statistics.fmean(speeds[side]) for side in ("direct", "platform"))
    return AtOnce(plan.chats, round(direct, 1), round(platform, 1), round(platform / direct, 3))


async def _chats(chat: Callable[[str], Awaitable[Timed]], questions: Sequence[str], plan: Plan, number: int) -> int:
    """Tokens that one person's chats wrote, one after the other."""
    written = 0
    for turn in range(plan.rounds):
        written += (await chat(questions[(number + turn * plan.chats) % len(questions)])).completion_tokens
    return written


async def _passage(api: RunningApi) -> Hit:
    (record,) = (await api.client.documents()).documents
    chunks = (await api.client.document_chunks(record.document_id)).chunks
    if len(chunks) != 1:
        raise WorldUnusable(f"The document has {len(chunks)} passages in place of one.")
    (view,) = chunks
    chunk = Chunk(
        chunk_id=view.chunk_id, document_id=record.document_id, collection=record.collection, source=record.source,
        title=record.title, position=0, text=view.text, char_start=view.char_start, char_end=view.char_end,
        heading_path=(view.section,) if view.section else (),
    )  # fmt: skip
    return Hit(1, chunk, HitScores())


def _median(values: Iterable[float]) -> float:
    return round(statistics.median(values), 1)


def main(
    home: Annotated[Path, typer.Option(help="Home with the models, and for vLLM with its environment.")],
    engine: Annotated[EngineKind, typer.Option(help="The model server.")] = "llama.cpp",
    prompts: Annotated[int, typer.Option(min=1, max=50, help="Pairs of chats.")] = 50,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest reply.")] = 64,
    chats: Annotated[int, typer.Option(min=1, help="Chats at once.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="Chats of each person, one after the other.")] = 3,
) -> None:
    """Print the figures as JSON."""

    async def run() -> tuple[Added, AtOnce]:
        async with open_engine(engine, home, parallel=chats, context_tokens=2048) as opened:
            return await measure(opened, home, Plan(prompts, max_tokens, chats, rounds), say=_say)

    try:
        added, at_once = asyncio.run(run())
    except EvaluationError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(4) from error
    figures = {"engine": engine, "max_tokens": max_tokens, "pairs": added._asdict(), "at_once": at_once._asdict()}
    typer.echo(json.dumps(figures, indent=2))


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    typer.run(main)
