"""How the decision to withhold an answer, made from the evidence alone, does over questions with known answers.

``python -m evals.abstention QUESTIONS.jsonl`` searches the store of the home; given a folder in BEIR layout whose
queries say their ``answerability``, as MTRAG-UN's do, it searches the corpus of the folder. No chat model is asked.
With ``--fit FILE`` the decision is fitted to the questions and written with its curve, for ``answer.abstention_file``.
Rules (``--method rules``) have six thresholds and take a few dozen questions; weights (``--method learned``) want a
hundred or more, and are reported by questions that they have not seen.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import typer
from pydantic import BaseModel, ValidationError

from agents.abstention import best_cosine, cosine_lead, evidence_signals
from agents.answerability import answer_signs
from agents.chat_model import ChatMessage
from agents.errors import AgentError
from agents.evidence_search import LOOKED_AT
from agents.history import last_question, standalone_query
from agents.proof.evidence import prepare
from agents.thresholds import CurvePoint, FittedThresholds, load_thresholds
from app.errors import AppError
from evals.abstention_fit import (
    JudgedQuestion,
    Point,
    cosine_curve,
    decision,
    doubt_curve,
    fit_learned,
    fit_rules,
)
from evals.errors import DatasetUnreadable, EvaluationError
from retrieval.embedders.protocol import Embedder
from retrieval.errors import RetrievalError
from retrieval.types import SearchResult

if TYPE_CHECKING:
    from app.settings import Settings

Half = Literal["even", "odd", "all"]
Method = Literal["rules", "learned"]
KEPT_HITS = 12
"""Hits that the graph keeps with default settings."""
_LABELS = {"ANSWERABLE": True, "UNANSWERABLE": False}
"""Questions with another label (answerable in part, unclear) are left out and counted."""


class Search(Protocol):
    """What the retriever offers."""

    def search(self, query: str, *, limit: int | None = None) -> SearchResult:
        """Hits, best first."""
        ...


class Turn(BaseModel):
    """A message of the conversation before a question."""

    role: Literal["user", "assistant"]
    content: str


class Row(BaseModel):
    """A line of the question file."""

    question: str
    answerable: bool
    history: tuple[Turn, ...] = ()


class _Metadata(BaseModel):
    answerability: str
    history: tuple[Turn, ...] = ()


class _Task(BaseModel):
    """A line of ``queries.jsonl`` that says whether it can be answered."""

    text: str
    metadata: _Metadata


def judge_questions(rows: Iterable[Row], search: Search, embedder: Embedder | None = None) -> list[JudgedQuestion]:
    """Signals of each question, a follow-up searched as the graph does it; signs too where there is an embedder."""
    judged: list[JudgedQuestion] = []
    for row in rows:
        history = tuple(ChatMessage(turn.role, turn.content) for turn in row.history)
        query = standalone_query(row.question, history)
        hits = search.search(query, limit=LOOKED_AT).hits
        evidence = prepare([hit.chunk for hit in hits[:KEPT_HITS]])
        judged.append(
            JudgedQuestion(
                question=row.question,
                answerable=row.answerable,
                signals=evidence_signals(row.question, best_cosine(hits), evidence, lead=cosine_lead(hits)),
                signs=answer_signs(row.question, query, hits, embedder, earlier=last_question(history))
                if embedder
                else {},
                conversation=row.history[0].content if row.history else row.question,
            )
        )
    return judged


def read_rows(questions: Path) -> tuple[list[Row], dict[str, int]]:
    """Questions of a file, or of a folder in BEIR layout, and how many were left out, by their label.

    Raises:
        DatasetUnreadable: A file is missing, or a line is not as expected.
    """
    folder = questions.is_dir()
    path = questions / "queries.jsonl" if folder else questions
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    try:
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            if not folder:
                rows.append(Row.model_validate_json(line))
                continue
            task = _Task.model_validate_json(line)
            label = task.metadata.answerability
            if label in _LABELS:
                rows.append(Row(question=task.text, answerable=_LABELS[label], history=task.metadata.history))
            else:
                left_out[label] += 1
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise DatasetUnreadable(
            f"{str(path)!r} cannot be used: {error}; see docs/grounding.md for what a line must have"
        ) from error
    return rows, dict(left_out)


def report(
    judged: Sequence[JudgedQuestion], start: FittedThresholds, *, method: Method | None, name: str, model: str
) -> FittedThresholds:
    """The decision over judged questions; fitted to them first where a method is given.

    Raises:
        DatasetUnreadable: Too few questions for the method.
    """
    learned = fit_learned(judged) if method == "learned" else None
    if learned:
        fitted = start.model_copy(update={"learned": learned.learned})
        shares = (learned.precision, learned.recall)
        curve = doubt_curve(judged, learned.doubts.tolist(), [n / 20 for n in range(1, 20)])
    else:
        thresholds = fit_rules(judged, start) if method else start.thresholds
        fitted = start.model_copy(update={"thresholds": thresholds, "learned": None if method else start.learned})
        shares = decision(judged, fitted)[1:]
        curve = cosine_curve(judged, [n / 20 for n in range(4, 17)])
    return fitted.model_copy(
        update={
            "embedding_model": model,
            "fitted_on": name,
            "questions": len(judged),
            "unanswerable": sum(not question.answerable for question in judged),
            "precision": shares[0],
            "recall": shares[1],
            "curve_of": "doubt" if learned else "cosine",
            "curve": tuple(_rounded(point) for point in curve),
        }
    )


def _rounded(point: Point) -> CurvePoint:
    return CurvePoint(threshold=point.threshold, precision=round(point.precision, 4), recall=round(point.recall, 4))


@contextmanager
def _searched(questions: Path, settings: Settings) -> Generator[tuple[Search, Embedder]]:
    """The home's search and its embedder; over the folder's own corpus where it is a folder."""
    from app.index_opening import load_index_embedder, open_index
    from app.models.store import ModelStore
    from app.reranking import open_reranker
    from evals.datasets import read_dataset
    from evals.retrieval import index_dataset
    from retrieval.lexical import LexicalEncoder
    from retrieval.search import Retriever
    from retrieval.store.edge import open_edge_store

    models, lexical = ModelStore(settings.home, settings.models), LexicalEncoder()
    with ExitStack() as stack:
        if questions.is_dir():
            dataset, embedder = read_dataset(questions), load_index_embedder(settings, models, None)
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundwork-eval-")))
            store = open_edge_store(own, dim=embedder.dim, fingerprint=embedder.fingerprint)
            stack.callback(store.close)
            index_dataset(dataset, embedder=embedder, lexical=lexical, store=store)
        else:
            embedder, store = open_index(settings, models, None, embedder=None)
            stack.callback(store.close)
        reranker = stack.enter_context(open_reranker(settings.search.rerank))
        yield Retriever(embedder, store, lexical, settings.search, reranker), embedder


def main(
    questions: Annotated[
        Path, typer.Argument(help="JSON lines with question, answerable and history, or a folder in BEIR layout.")
    ],
    half: Annotated[Half, typer.Option(help="Every other question, or all.")] = "all",
    thresholds: Annotated[Path | None, typer.Option(help="A fitted file instead of the settings' own.")] = None,
    fit_to: Annotated[Path | None, typer.Option("--fit", help="Fit to the questions and write this file.")] = None,
    method: Annotated[Method, typer.Option(help="What --fit fits.")] = "rules",
    plot: Annotated[Path | None, typer.Option(help="Write the curve to this SVG file.")] = None,
) -> None:
    """Print the decision of the graph and its curve as JSON."""
    from app.settings import load_settings
    from evals.reports.plots import curve_svg

    settings = load_settings(os.environ)
    try:
        start = load_thresholds(thresholds or settings.answer.abstention_file)
        rows, left_out = read_rows(questions)
        chosen = {"even": rows[0::2], "odd": rows[1::2], "all": rows}[half]
        with _searched(questions, settings) as (search, embedder):
            looks = embedder if start.learned or (fit_to and method == "learned") else None
            judged = judge_questions(chosen, search, looks)
            model = embedder.fingerprint
        fitted = report(
            judged, start, method=method if fit_to else None, name=f"{questions.resolve().name}, {half}", model=model
        )
    except (EvaluationError, AgentError, RetrievalError, AppError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    if fit_to:
        fit_to.write_text(fitted.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if plot:
        plot.write_text(curve_svg(fitted.curve, of=fitted.curve_of), encoding="utf-8")
    typer.echo(json.dumps({**fitted.model_dump(), "left_out": left_out}, indent=2))


if __name__ == "__main__":
    typer.run(main)
