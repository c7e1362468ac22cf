"""Natural language inference as a judge: a cross-encoder reads quote and claim. Torch loads with the first claim."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np

from agents.answer import Opinion
from agents.errors import JudgeFailed
from agents.judges.protocol import Statement

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_OPINIONS: Mapping[str, Opinion] = {"entailment": "supports", "neutral": "unsure", "contradiction": "contradicts"}
"""Names of the three classes as models of this kind have them in their configuration, in any case."""


@dataclass(slots=True)
class NliJudge:
    """A ``ClaimJudge`` over one cross-encoder with three classes.

    Attributes:
        model: Folder of a model, or its id on the model hub when it was fetched before.
    """

    model: str
    _loaded: CrossEncoder | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    async def judge(self, statements: Sequence[Statement]) -> list[Opinion]:
        """The likeliest class of each statement."""
        return await asyncio.to_thread(self._judge, statements) if statements else []

    def _judge(self, statements: Sequence[Statement]) -> list[Opinion]:
        with self._lock:
            self._loaded = self._loaded or self._load()
            pairs = [(statement.quote, statement.claim) for statement in statements]
            try:
                scores = np.asarray(self._loaded.predict(pairs, show_progress_bar=False))
            except (RuntimeError, ValueError, IndexError) as error:
                raise JudgeFailed(f"the claim judge {self.model!r} failed: {error}") from error
        classes = _classes(self._loaded, self.model)
        if scores.shape != (len(pairs), len(classes)):
            raise JudgeFailed(f"{self.model!r} does not give one score for each class; name a model for NLI")
        return [classes[int(best)] for best in scores.argmax(axis=1)]

    def _load(self) -> CrossEncoder:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self.model, local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise JudgeFailed(
                f"the claim judge {self.model!r} cannot be loaded: {error}; set answer.judge_model to its folder"
            ) from error


def _classes(model: CrossEncoder, name: str) -> list[Opinion]:
    config = model.config
    labels = {int(number): name for number, name in ((config.id2label or {}) if config else {}).items()}
    known = [_OPINIONS.get(labels[number].lower()) for number in sorted(labels)]
    classes = cast("list[Opinion]", [opinion for opinion in known if opinion is not None])
    if len(classes) != len(known) or set(classes) != set(_OPINIONS.values()):
        raise JudgeFailed(
            f"{name!r} does not name the classes entailment, neutral and contradiction; name a model for NLI"
        )
    return classes


@cache
def nli_judge(model: str) -> NliJudge:
    """The judge over a model; one for the whole process, for it holds the weights."""
    return NliJudge(model)
