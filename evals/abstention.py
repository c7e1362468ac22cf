"""How the decision to withhold an answer, made from the evidence alone, does over questions with known answers.

``python -m evals.abstention QUESTIONS.jsonl`` searches the store of the home; no chat model is asked. With ``--fit
FILE`` the thresholds are fitted to the questions and written with their curve, for ``answer.abstention_file``; fit on
one half of your questions (``--half even``) and look at the other (``--half odd --thresholds FILE``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol

import typer
from pydantic import BaseModel

from agents.abstention import EvidenceSignals, best_cosine, cosine_lead, evidence_signals, is_too_weak
from agents.chat_model import ChatMessage
from agents.evidence_search import LOOKED_AT
from agents.history import standalone_query
from agents.proof.evidence import prepare
from agents.thresholds import CurvePoint, FittedThresholds, Thresholds, load_thresholds
from retrieval.types import SearchResult

Half = Literal["even", "odd", "all"]
SWEEPS = 2
GRID: Mapping[str, Sequence[float]] = {
    "min_cosine": [n / 50 for n in range(10, 31)],
    "doubtful_cosine": [n / 50 for n in range(15, 36)],
    "min_coverage": [n / 20 for n in range(4, 19)],
    "sure_cosine": [n / 50 for n in range(20, 43)],
    "code_coverage": [n / 20 for n in range(8, 20)],
    "min_lead": [n / 50 for n in range(21)],
}
"""Values that a fit tries for each threshold."""
KEPT_HITS = 12
"""Hits that the graph keeps with default settings."""


class Search(Protocol):
    """What the retriever offers."""

    def search(self, query: str, *, limit: int | None = None) -> SearchResult:
        """Hits, best first."""
        ...


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question, whether the documents answer it, and what the search says of it."""

    question: str
    answerable: bool
    signals: EvidenceSignals


class Point(NamedTuple):
    """Precision and recall of abstaining; 1.0 where nothing was to decide."""

    threshold: float
    precision: float
    recall: float


class Turn(BaseModel):
    """A message of the conversation before a question."""

    role: Literal["user", "assistant"]
    content: str


class Row(BaseModel):
    """A line of the question file."""

    question: str
    answerable: bool
    history: tuple[Turn, ...] = ()


def judge_questions(rows: Iterable[Row], search: Search) -> list[JudgedQuestion]:
    """Signals of each question, a follow-up searched as the graph does it."""
    judged: list[JudgedQuestion] = []
    for row in rows:
        history = tuple(ChatMessage(turn.role, turn.content) for turn in row.history)
        hits = search.search(standalone_query(row.question, history), limit=LOOKED_AT).hits
        evidence = prepare([hit.chunk for hit in hits[:KEPT_HITS]])
        signals = evidence_signals(row.question, best_cosine(hits), evidence, lead=cosine_lead(hits))
        judged.append(JudgedQuestion(row.question, row.answerable, signals))
    return judged


def decision(questions: Sequence[JudgedQuestion], limits: Thresholds | None = None) -> Point:
    """The decision as the graph takes it with these thresholds; None takes those that are shipped."""
    return _point(0.0, [(question.answerable, is_too_weak(question.signals, limits)) for question in questions])


def fit(questions: Sequence[JudgedQuestion], start: Thresholds) -> Thresholds:
    """Thresholds that raise the smaller of precision and recall, one after the other, twice; ties stay at the start."""
    best, reached = start, _reached(questions, start)
    for _ in range(SWEEPS):
        for name, values in GRID.items():
            for value in values:
                tried = best.model_copy(update={name: value})
                found = _reached(questions, tried)
                if found > reached:
                    best, reached = tried, found
    return best


def _reached(questions: Sequence[JudgedQuestion], limits: Thresholds) -> tuple[float, float]:
    _, precision, recall = decision(questions, limits)
    return min(precision, recall), precision + recall


def curve(questions: Sequence[JudgedQuestion], thresholds: Iterable[float]) -> list[Point]:
    """What the best cosine alone would do at each threshold."""
    return [
        _point(threshold, [(q.answerable, (q.signals.top_cosine or 0.0) < threshold) for q in questions])
        for threshold in thresholds
    ]


def _point(threshold: float, decided: Sequence[tuple[bool, bool]]) -> Point:
    right = sum(abstained and not answerable for answerable, abstained in decided)
    abstained = sum(abstained for _, abstained in decided)
    unanswerable = sum(not answerable for answerable, _ in decided)
    return Point(threshold, right / abstained if abstained else 1.0, right / unanswerable if unanswerable else 1.0)


def main(
    questions: Annotated[Path, typer.Argument(help="JSON lines with question, answerable and history.")],
    half: Annotated[Half, typer.Option(help="Every other question, or all.")] = "all",
    thresholds: Annotated[Path | None, typer.Option(help="Fitted thresholds instead of the settings' own.")] = None,
    fit_to: Annotated[Path | None, typer.Option("--fit", help="Fit thresholds and write them to this file.")] = None,
) -> None:
    """Print the decision of the graph and the curve of the cosine as JSON."""
    from app.index_opening import open_index
    from app.models.store import ModelStore
    from app.settings import load_settings
    from retrieval.lexical import LexicalEncoder
    from retrieval.search import Retriever

    settings = load_settings(os.environ)
    limits = load_thresholds(thresholds or settings.answer.abstention_file).thresholds
    embedder, store = open_index(settings, ModelStore(settings.home, settings.models), None, embedder=None)
    search = Retriever(embedder=embedder, store=store, lexical=LexicalEncoder(), settings=settings.search)
    lines = [line for line in questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    chosen = {"even": lines[0::2], "odd": lines[1::2], "all": lines}[half]
    judged = judge_questions([Row.model_validate_json(line) for line in chosen], search)
    store.close()
    if fit_to:
        limits = fit(judged, limits)
    _, precision, recall = decision(judged, limits)
    report = FittedThresholds(
        embedding_model=embedder.fingerprint,
        fitted_on=f"{questions.name}, {half}",
        questions=len(judged),
        unanswerable=sum(not question.answerable for question in judged),
        precision=precision,
        recall=recall,
        thresholds=limits,
        curve=tuple(CurvePoint(**point._asdict()) for point in curve(judged, [n / 20 for n in range(4, 17)])),
    )
    if fit_to:
        fit_to.write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    typer.echo(report.model_dump_json(indent=2))


if __name__ == "__main__":
    typer.run(main)
