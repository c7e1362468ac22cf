"""Bodies of the API for evaluations: questions, runs, cases and their figures. Pydantic alone, also for the UI.

A measure of one question is a number in ``EvalCase.values``; two runs are compared over the questions both have.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from agents.answer import Citation, Claim
from app.schema import Text

EvalKind: TypeAlias = Literal["answers", "retrieval"]
EvalState: TypeAlias = Literal["queued", "running", "done", "stopped", "interrupted", "failed"]
"""``stopped``: its time was up or somebody stopped it; ``interrupted``: its process died. Both can be gone on with."""
ENDED: frozenset[EvalState] = frozenset({"done", "stopped", "interrupted", "failed"})
MAX_QUESTIONS = 2000
"""Of one evaluation; the body of a request is limited as well."""

_Name: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class EvalTurn(_Value):
    """A message of the conversation before a question."""

    role: Literal["user", "assistant"]
    content: str


class EvalEvidence(_Value):
    """A passage that answers a question, word for word."""

    file: str
    quote: str


class EvalQuestion(_Value):
    """One line of a question file. Fields that are not listed are notes for people and are left out."""

    id: _Name
    question: Text
    answer: str = ""
    """Reference answer, for people."""
    must_contain: tuple[str, ...] = ()
    """What the answer must hold: every item, each with alternatives between ``||``."""
    relevant_files: tuple[str, ...] = ()
    """Files that hold the answer, relative to the folder that was ingested; a multi-hop question needs them all."""
    also_relevant: tuple[str, ...] = ()
    """Other files that state the same."""
    answerable: bool = True
    kind: str = "lookup"
    history: tuple[EvalTurn, ...] = ()
    evidence: tuple[EvalEvidence, ...] = ()


class EvalRequest(BaseModel):
    """What to measure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: EvalKind
    name: _Name
    """Name of the question set."""
    questions: tuple[EvalQuestion, ...] = Field(min_length=1, max_length=MAX_QUESTIONS)
    collections: tuple[str, ...] = ()
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of this evaluation alone, by full name: ``{"search.fusion": "rrf"}``; of search and answer only."""
    limit_seconds: float | None = Field(default=None, gt=0)
    """No question is begun after that; the run can be gone on with."""
    fresh: bool = False
    """Begin anew even where a run of the same questions and settings was not finished."""


class EvalPassage(_Value):
    """A passage that the search found for a question."""

    rank: int
    chunk_id: str
    document_id: str
    source: str
    title: str
    section: str = ""
    text: str
    relevant: bool
    """From a file that the question names."""


class CheckedCitation(_Value):
    """A citation of an answer, judged apart from the proof that set it."""

    citation: Citation
    supports: bool
    """A claim that points to it is carried by its quote."""
    relevant: bool
    """From a file that the question names, or the same words as its evidence."""


class EvalCase(_Value):
    """One question and what came of it."""

    question_id: str
    kind: str
    answerable: bool
    question: str
    values: dict[str, float] = Field(default_factory=dict)
    """Measures of this question by name."""
    counts: dict[str, int] = Field(default_factory=dict)
    """What rates over all questions are summed from."""
    passed: bool = False
    why_not: str = ""
    """In words, where it did not pass."""
    status: str = ""
    """How an answer ended: answered, abstained or failed; empty for retrieval."""
    answer: str = ""
    expected: str = ""
    claims: tuple[Claim, ...] = ()
    citations: tuple[CheckedCitation, ...] = ()
    passages: tuple[EvalPassage, ...] = ()


class EvalSummary(_Value):
    """Figures over all questions, and over those of each kind; a figure that nothing was measured for is left out."""

    metrics: dict[str, float] = Field(default_factory=dict)
    by_kind: dict[str, dict[str, float]] = Field(default_factory=dict)


class EvalRun(_Value):
    """An evaluation as the list shows it."""

    eval_id: str
    kind: EvalKind
    name: str
    state: EvalState
    created_at: str
    updated_at: str
    total: int
    done: int
    config: dict[str, JsonValue] = Field(default_factory=dict)
    """What was measured: models, settings, size of the corpus."""
    summary: EvalSummary = EvalSummary()
    """Of the questions that are done."""
    error: str = ""


def label_of(run: EvalRun) -> str:
    """How people call a run: its set, when, and the beginning of its id."""
    return f"{run.name}, {run.created_at[:16].replace('T', ' ')}, {run.eval_id[:6]}"


class EvalRunList(BaseModel):
    """Evaluations, newest first."""

    runs: list[EvalRun]


class EvalDetail(BaseModel):
    """An evaluation with its questions, in the order of the set."""

    run: EvalRun
    cases: list[EvalCase]


class PairedMeasure(_Value):
    """One measure of two evaluations over the questions that have it in both."""

    measure: str
    questions: int
    values: tuple[float, float]
    """Means of the first and the second."""
    difference: float
    """Second less first."""
    interval: tuple[float, float]
    """Of the difference, 95 %."""
    p_value: float
    """Of the paired randomisation test, two-sided."""
    better: int
    """Questions in which the second is better."""
    worse: int


class ChangedCase(_Value):
    """A question that passes in one of two evaluations alone."""

    question_id: str
    question: str
    passed: tuple[bool, bool]
    why_not: tuple[str, str]


class EvalComparison(_Value):
    """The JSON shape of ``eval compare --json``: the second evaluation against the first."""

    names: tuple[str, str]
    questions: int
    """That both measured."""
    measures: list[PairedMeasure]
    changed: list[ChangedCase]
    differences: tuple[str, ...] = ()
    """What else differs between the two, in words."""


class KeepRequest(BaseModel):
    """Keep the question of a run as a case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    answerable: bool | None = None
    """Whether the documents hold an answer; None goes by how the run ended."""
    must_contain: tuple[str, ...] | None = None
    """What an answer must hold; None takes what the proof of this one suggests."""


class KeptQuestion(_Value):
    """A question that was kept from a chat."""

    question: EvalQuestion
    run_id: str
    """The answer it comes from, which may be gone."""
    created_at: str


class KeptQuestionList(BaseModel):
    """Kept questions, oldest first."""

    questions: list[KeptQuestion]
