"""Limits of the decision to withhold an answer: a small versioned file with the curve that they were read off.

``python -m evals.abstention QUESTIONS --fit FILE`` writes one for a corpus and an embedding model of one's own.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.answerability import LearnedDoubt
from agents.errors import ThresholdsInvalid

SHIPPED = "abstention.json"
"""File beside this module: all-MiniLM-L6-v2 over the Kubernetes documentation; docs/grounding.md has the figures."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Thresholds(_Value):
    """What the evidence must reach."""

    min_cosine: float = Field(ge=-1, le=1)
    """Best cosine below which nothing found is about the question."""
    doubtful_cosine: float = Field(ge=-1, le=1)
    """Best cosine below which the question's words must stand in the passages as well."""
    min_coverage: float = Field(ge=0, le=1)
    """Least share of the question's telling words that the passages hold when the cosine is doubtful."""
    sure_cosine: float = Field(ge=-1, le=1)
    """Best cosine from which on missing plain names do not count, and code names only together with missing words."""
    code_coverage: float = Field(ge=0, le=1)
    """Least share when none of the code names of the question stands in the passages."""
    min_lead: float = Field(default=0.0, ge=0, le=2)
    """Least distance of the best cosine to the tenth best; 0 asks for none. Small where many chunks are alike."""


class CurvePoint(_Value):
    """Precision and recall of abstaining at one threshold."""

    threshold: float
    precision: float
    recall: float


class FittedThresholds(_Value):
    """Thresholds and where they are from."""

    version: Literal[1] = 1
    embedding_model: str
    """Fingerprint of the model whose cosines they are."""
    fitted_on: str
    """Questions and corpus."""
    questions: int
    unanswerable: int
    precision: float
    """Of the decision over these questions; with ``learned``, each judged by weights that did not see it."""
    recall: float
    thresholds: Thresholds
    learned: LearnedDoubt | None = None
    """Decides in place of the thresholds where it is given."""
    curve_of: Literal["cosine", "doubt"] = "cosine"
    """What the curve is of: the best cosine alone, below its threshold, or the learned doubt, from its threshold on."""
    curve: tuple[CurvePoint, ...] = ()


@cache
def load_thresholds(path: Path | None = None) -> FittedThresholds:
    """The thresholds of a file; None gives those that are shipped.

    Raises:
        ThresholdsInvalid: The file cannot be read, or is not one.
    """
    try:
        text = path.read_text("utf-8") if path else files("agents").joinpath(SHIPPED).read_text("utf-8")
        return FittedThresholds.model_validate_json(text)
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise ThresholdsInvalid(
            f"answer.abstention_file {str(path)!r} cannot be used: {error}; write it with `python -m evals.abstention`"
        ) from error
