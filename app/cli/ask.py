"""``groundwork ask``: a question, its answer as it is written, then what each sentence stands on."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.acting import decide_here, tell
from app.cli.attaching import attach_all, attach_pictures, fill_prompt, parse_prompt
from app.cli.drawing import given, parse_sampling, read_schema
from app.cli.invocation import current, parse_filter, parse_request
from app.cli.presets import parse_preset
from app.cli.verify import write_receipt

if TYPE_CHECKING:
    from agents.answer import Answer, Verdict
    from agents.events import FailureKind, RunEvent
    from app.client import ApiClient
    from app.schema import RunInfo, RunRequest

_MARKS: dict[Verdict, str] = {"verified": "✓", "partial": "~", "unsupported": "✗"}
_UNAVAILABLE: frozenset[FailureKind] = frozenset({"model_unavailable", "model_timeout", "store_unavailable"})


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: the answer, whose text is the reason when it failed, and the exit code for it."""

    answer: Answer | RunInfo
    """The run itself while it waits."""
    code: int


def ask(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What you want to know; not needed with --prompt.")
    ] = "",
    collection: Annotated[list[str] | None, typer.Option(help="Search here alone; may be repeated.")] = None,
    filter_: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Metadata that must match.")
    ] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="Go on in this thread.")] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="Let this agent act on it, `operator` for example.")] = "",
    attach: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="Attach a file, `mcp:SERVER:URI` or `doc:ID`; may be repeated."),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Put a picture beside the question, a screenshot say; may be repeated."),
    ] = None,
    prompt: Annotated[str, typer.Option(metavar="SERVER/NAME", help="Start from this prompt of an MCP server.")] = "",
    arg: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Fill in a blank of the prompt; may be repeated.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Send a prompt's words without asking.")] = False,
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="Ask as this preset says, or NAME@2 for a version of it.")
    ] = "",
    model: Annotated[str, typer.Option(metavar="NAME", help="Chat model that answers, of /api/models.")] = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON Schema of an object that the answer is to be.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="0 takes the likeliest words.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, max=8192, help="Longest answer in tokens.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes a temperature above 0 repeatable.")] = None,
    sampling: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="top_p, top_k, min_p, a penalty or stop; may be repeated."),
    ] = None,
    receipt: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the answer's receipt there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Answer a question from the documents, with a citation for each sentence.

    An agent may call tools; what it must not do alone is shown to you here, or waits for `groundwork approvals`.
    Exit code 0 also when the documents hold no answer, 3 when calls wait for a decision, 4 when the model is not
    available, 1 when the run failed.

    With --schema the object alone goes to standard output, and what proves each value to standard error.

    A model that sees is sent the pictures of --image; any model is given the words that are read from them.

    A prompt's words are shown before they are sent; a QUESTION beside it is put behind them.

    Example: groundwork ask 'Why did my pod restart? Last termination reason: OOMKilled' --attach events.txt
    """
    from app.schema import PromptChoice, RunInfo, RunRequest

    choice = parse_prompt(prompt, arg or [])
    if not question and choice is None:
        raise typer.BadParameter("is missing; ask something, or name a prompt with --prompt.", param_hint="QUESTION")
    request = parse_request(
        RunRequest,
        question=question or prompt,
        collections=tuple(collection or ()),
        filter=parse_filter(filter_ or []),
        model=model,
        output_schema=read_schema(schema) if schema else None,
        **parse_preset(preset),
        **parse_sampling(sampling or []),
        **given(temperature=temperature, max_tokens=max_tokens, seed=seed),
        agent=agent,
        prompt=PromptChoice(server=choice.server, name=choice.name) if choice else None,
    )

    async def work(client: ApiClient) -> Ending:
        thread_id = thread or await new_thread(client)
        await attach_all(client, thread_id, attach or [])
        await attach_pictures(client, thread_id, image or [])
        if choice is None:
            return await run_question(client, thread_id, request, on_token)
        words = await fill_prompt(client, thread_id, choice, send=yes)
        asked = parse_request(RunRequest, **(dict(request) | {"question": f"{words}\n\n{question}".strip()}))
        return await run_question(client, thread_id, asked, on_token)

    async def ask_and_keep(client: ApiClient) -> Ending:
        ending = await work(client)
        if receipt is not None and ending.code == exits.DONE:
            write_receipt(await client.receipt(ending.answer.run_id), receipt)
        return ending

    stream = sys.stdout.isatty() and not as_json
    on_token = output.write_text if stream else _ignore
    ending = current(context).call(ask_and_keep)
    if as_json:
        output.write_json(ending.answer)
    if isinstance(ending.answer, RunInfo):
        output.write_error(
            "The run waits for a decision: see groundwork approvals list; it goes on once every call is decided."
        )
    elif ending.code != exits.DONE:
        output.write_error(ending.answer.answer)
    elif not as_json:
        _print(ending.answer, streamed=stream)
    raise typer.Exit(ending.code)


async def new_thread(client: ApiClient) -> str:
    """Id of a new thread."""
    from app.schema import ThreadCreate

    return (await client.create_thread(ThreadCreate())).thread_id


async def run_question(
    client: ApiClient, thread_id: str | None, request: RunRequest, on_token: Callable[[str], None]
) -> Ending:
    """Ask in a thread, a new one when None; cancelling the task cancels the run."""
    thread_id = thread_id or await new_thread(client)
    run = await client.start_run(thread_id, request)
    answer: Answer | None = None
    try:
        async with aclosing(client.events(run.run_id)) as events:
            async for event in events:
                if event.type == "token" and event.step == 0:
                    on_token(event.text)
                elif event.type == "run_waiting":
                    if not await decide_here(client, event.call_ids):
                        return Ending(await client.run(run.run_id), exits.PARTIAL)
                elif event.type == "answer_done":
                    answer = event.answer
                elif event.type in ("run_failed", "run_cancelled"):
                    return _failed(event, answer)
                else:
                    tell(event)
    except asyncio.CancelledError:
        await client.cancel_run(run.run_id)
        raise
    if answer is None:
        return _without_answer("The run ended without an answer; see the log of the API.", run.run_id, thread_id)
    return Ending(answer, exits.DONE)


def _failed(event: RunEvent, answer: Answer | None) -> Ending:
    if event.type == "run_failed":
        code = exits.UNAVAILABLE if event.kind in _UNAVAILABLE else exits.UNEXPECTED
        if answer is not None and answer.status == "failed":
            return Ending(answer, code)
        return Ending(_without_answer(event.message, event.run_id, event.thread_id).answer, code)
    return _without_answer("The run was cancelled.", event.run_id, event.thread_id)


def _without_answer(message: str, run_id: str, thread_id: str) -> Ending:
    from agents.answer import Answer

    return Ending(Answer(status="failed", answer=message, run_id=run_id, thread_id=thread_id), exits.UNEXPECTED)


def _ignore(_: str) -> None:
    return


def _print(answer: Answer, *, streamed: bool) -> None:
    if answer.output is not None:
        output.write_text(f"{json.dumps(answer.output, ensure_ascii=False, indent=2)}\n")
        for claim in answer.claims:
            output.write_error(f"{_MARKS[claim.verdict]} {claim.text} {claim.explanation}".rstrip())
        output.write_error(f"\n{_timing(answer)}")
        return
    # The streamed text has no citation numbers; below stands the answer as it was checked.
    output.write_text("\n\n" if streamed else "")
    if answer.status == "abstained" or not answer.claims:
        output.write_text("" if streamed and not answer.abstention else f"{answer.answer}\n")
    for claim in answer.claims:
        numbers = "".join(f"[{number}]" for number in claim.citations)
        output.write_text(f"{_MARKS[claim.verdict]} {' '.join(claim.text.split())} {numbers}".rstrip() + "\n")
    for citation in answer.citations:
        where = output.place(citation.page, citation.section)
        output.write_text(
            f"\n[{citation.number}] {citation.title}{f' ({where})' if where else ''}\n    {citation.source}\n"
            f'    "{" ".join(citation.quote.split())}"\n'
        )
    output.write_error(f"\n{_timing(answer)}")


def _timing(answer: Answer) -> str:
    parts = [f"{answer.status} in {answer.timings_ms.total / 1000:.1f} s"]
    if answer.timings_ms.ttft is not None:
        parts.append(f"first token after {answer.timings_ms.ttft / 1000:.1f} s")
    if answer.tokens_per_second is not None:
        parts.append(f"{answer.tokens_per_second:.1f} tokens/s")
    parts.append(f"thread {answer.thread_id}")
    return ", ".join(parts)
