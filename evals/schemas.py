"""Fifty JSON Schemas asked of the chat model over the API: ``python -m evals.schemas --home HOME``.

Each case attaches a short text to a thread of its own and asks for an object from it. An outcome is *valid* when a
validator of its own, which shares no code with the product's, finds nothing wrong with the object; *honest* when there
is none and the run ended with one event that says why; *broken* otherwise. Knows nothing of whether values are right:
the proof of each value is counted as the product tells it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.events import AnswerDone, RunEvent, RunFailed, is_terminal
from app.cli.connection import connect
from app.client import ApiClient
from app.schema import RunRequest, ThreadCreate
from app.settings import HOME_VARIABLE, load_settings
from evals.errors import QuestionsUnreadable

CASES = Path(__file__).parent / "schema_cases"
Outcome: TypeAlias = Literal["valid", "honest", "broken"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SchemaCase(_Body):
    """One schema and the question that it is asked with."""

    id: str
    features: tuple[str, ...]
    """What of JSON Schema it uses, in words."""
    question: str
    schema_: Annotated[dict[str, JsonValue], Field(alias="schema")]


class SchemaText(_Body):
    """A text and what is asked of it."""

    name: str
    text: str
    cases: tuple[SchemaCase, ...]


class SchemaResult(_Body):
    """What became of one case."""

    id: str
    features: tuple[str, ...]
    outcome: Outcome
    reason: str
    """Of a failure or an abstention, or what is wrong; empty for a valid object."""
    seconds: float
    repairs: int = 0
    """Times that the model was shown what is wrong, known of objects alone."""
    values: int = 0
    """Values of the object that were laid beside the text."""
    unsupported: int = 0
    """Values that the text does not hold."""
    output: dict[str, JsonValue] | None = None


class SchemaReport(_Body):
    """Figures over all cases."""

    cases: int
    valid: int
    honest: int
    broken: int
    repaired: int
    """Valid objects that were not right at once."""
    values: int
    unsupported: int
    seconds: float
    reasons: dict[str, int]
    results: tuple[SchemaResult, ...]


def read_texts(folder: Path = CASES) -> list[SchemaText]:
    """The texts with their cases, by file name.

    Raises:
        QuestionsUnreadable: A file is none.
    """
    texts: list[SchemaText] = []
    for path in sorted(folder.glob("*.json")):
        try:
            texts.append(SchemaText.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError) as error:
            raise QuestionsUnreadable(f"{path.name} is no file of schema cases: {error}.") from error
    return texts


def judge(case: SchemaCase, events: Sequence[RunEvent], *, seconds: float) -> SchemaResult:
    """What became of a case, by the events of its run."""
    ends = [event for event in events if is_terminal(event)]
    told: dict[str, JsonValue] = {"id": case.id, "features": list(case.features), "seconds": round(seconds, 2)}
    if len(ends) != 1 or ends[0] is not events[-1]:
        return _result(told, "broken", f"{len(ends)} terminal events")
    if isinstance(ends[0], RunFailed):
        return _result(told, "broken" if ends[0].kind == "internal_error" else "honest", ends[0].kind)
    answer = next((event.answer for event in events if isinstance(event, AnswerDone)), None)
    if answer is None:
        return _result(told, "broken", f"{ends[0].type} without an answer")
    if answer.output is None:
        reason = answer.abstention.reason if answer.abstention else ""
        return _result(told, "honest" if reason else "broken", reason or "an answer without an object")
    told |= {"output": answer.output, "repairs": answer.repairs, "values": len(answer.claims)}
    told |= {"unsupported": sum(claim.verdict == "unsupported" for claim in answer.claims)}
    validator = Draft202012Validator(case.schema_, format_checker=Draft202012Validator.FORMAT_CHECKER)
    faults = [fault.message for fault in validator.iter_errors(answer.output)]
    return _result(told, "broken" if faults else "valid", faults[0] if faults else "")


def _result(told: dict[str, JsonValue], outcome: Outcome, reason: str) -> SchemaResult:
    return SchemaResult.model_validate(told | {"outcome": outcome, "reason": reason})


async def play(api: ApiClient, text: SchemaText, case: SchemaCase, *, model: str = "") -> SchemaResult:
    """One case in a thread of its own, which is deleted afterwards."""
    started, events = time.perf_counter(), list[RunEvent]()
    thread = (await api.create_thread(ThreadCreate(title=case.id))).thread_id
    try:
        await api.attachments.attach_file(thread, f"{text.name}.txt", text.text.encode())
        asked = RunRequest(question=case.question, output_schema=case.schema_, model=model)
        run = await api.start_run(thread, asked)
        async with aclosing(api.events(run.run_id)) as stream:
            async for event in stream:
                events.append(event)
    finally:
        await api.delete_thread(thread)
    return judge(case, events, seconds=time.perf_counter() - started)


def sum_up(results: Sequence[SchemaResult]) -> SchemaReport:
    """Figures over all results."""
    outcomes = Counter(result.outcome for result in results)
    return SchemaReport(
        cases=len(results),
        valid=outcomes["valid"],
        honest=outcomes["honest"],
        broken=outcomes["broken"],
        repaired=sum(result.repairs > 0 for result in results),
        values=sum(result.values for result in results),
        unsupported=sum(result.unsupported for result in results),
        seconds=round(sum(result.seconds for result in results), 1),
        reasons=dict(Counter(result.reason for result in results if result.reason)),
        results=tuple(results),
    )


async def measure(
    home: Path, *, kept: Path | None, limit: int, model: str, tell: Callable[[SchemaResult], None]
) -> SchemaReport:
    """Play the cases that are not kept yet, at most ``limit`` of them, and sum up all that are known."""
    texts = read_texts()
    known = {result.id: result for result in _read_kept(kept)}
    wanted = [(text, case) for text in texts for case in text.cases if case.id not in known]
    settings = load_settings({**os.environ, HOME_VARIABLE: str(home)})
    async with connect(settings) as api:
        for text, case in wanted[: limit or None]:
            result = known[case.id] = await play(api, text, case, model=model)
            tell(result)
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(result.model_dump_json() + "\n")
    return sum_up([known[case.id] for text in texts for case in text.cases if case.id in known])


def _read_kept(kept: Path | None) -> list[SchemaResult]:
    if kept is None or not kept.exists():
        return []
    return [SchemaResult.model_validate_json(line) for line in kept.read_text(encoding="utf-8").splitlines()]


def _tell(result: SchemaResult) -> None:
    faults = f", repaired {result.repairs}x" if result.repairs else ""
    typer.echo(f"{result.outcome:7} {result.id:14} {result.seconds:6.1f} s{faults} {result.reason[:100]}", err=True)


def main(
    home: Annotated[Path, typer.Option(help="Home folder whose chat model is asked; its API is used where one runs.")],
    keep: Annotated[Path | None, typer.Option(help="File of results; what stands in it is not asked again.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Most cases of this call; 0 sets no limit.")] = 0,
    model: Annotated[str, typer.Option(help="Chat model; empty for the default one.")] = "",
) -> None:
    """Print the figures as JSON; exit code 1 when an outcome is broken."""
    report = asyncio.run(measure(home, kept=keep, limit=limit, model=model, tell=_tell))
    typer.echo(report.model_dump_json(indent=2))
    raise typer.Exit(int(report.broken > 0))


if __name__ == "__main__":
    typer.run(main)
