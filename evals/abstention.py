"""How the decision to withhold an answer, made from the evidence alone, does over questions with known answers.

``python -m evals.abstention QUESTIONS.jsonl`` searches the store of the home; no chat model is asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol

import typer
from pydantic import BaseModel

from agents.abstention import EvidenceSignals, best_cosine, evidence_signals, is_too_weak
from agents.chat_model import ChatMessage
from agents.evidence_search import LOOKED_AT
from agents.history import standalone_query
from agents.proof.evidence import prepare
from retrieval.types import SearchResult

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
        signals = evidence_signals(row.question, best_cosine(hits), evidence)
        judged.append(JudgedQuestion(row.question, row.answerable, signals))
    return judged


def decision(questions: Sequence[JudgedQuestion]) -> Point:
    """The decision as the graph takes it."""
    return _point(0.0, [(question.answerable, is_too_weak(question.signals)) for question in questions])


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


def main(questions: Annotated[Path, typer.Argument(help="JSON lines with question, answerable and history.")]) -> None:
    """Print the decision of the graph and the curve of the cosine as JSON."""
    from app.index_opening import open_index
    from app.models.store import ModelStore
    from app.settings import load_settings
    from retrieval.lexical import LexicalEncoder
    from retrieval.search import Retriever

    settings = load_settings(os.environ)
    embedder, store = open_index(settings, ModelStore(settings.home, settings.models), None, embedder=None)
    search = Retriever(embedder=embedder, store=store, lexical=LexicalEncoder(), settings=settings.search)
    rows = [
        Row.model_validate_json(line) for line in questions.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    judged = judge_questions(rows, search)
    points = curve(judged, [number / 20 for number in range(4, 17)])
    typer.echo(json.dumps({"decision": decision(judged)[1:], "cosine_curve": points}, indent=2))
    store.close()


if __name__ == "__main__":
    typer.run(main)
