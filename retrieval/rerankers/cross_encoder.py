"""Cross-encoders of sentence-transformers: question and passage read together. Torch loads at the first search."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from retrieval.candidates import Candidate
from retrieval.errors import RerankFailed, RerankTimedOut
from retrieval.rerankers.protocol import RerankScore
from retrieval.types import index_text

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


@dataclass(slots=True)
class CrossEncoderReranker:
    """A ``Reranker`` over one cross-encoder. The time it takes to load does not count against the time limit.

    Attributes:
        model: Folder of a model, or its id on the model hub.
        batch_size: Pairs read at once; the time limit is looked at between batches.
        offline: Never fetch; the model must be a folder, or have been fetched before.
    """

    model: str
    batch_size: int = 16
    offline: bool = True
    _loaded: CrossEncoder | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def name(self) -> str:
        """Kind and model."""
        return f"cross-encoder {self.model}"

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:
        """Scores of the model's one output, by its own activation; a sigmoid where it names none."""
        if not candidates:
            return []
        model = self._model()
        deadline = time.monotonic() + seconds
        pairs = [(query, index_text(candidate.chunk)) for candidate in candidates]
        scores: list[float] = []
        for start in range(0, len(pairs), self.batch_size):
            if time.monotonic() >= deadline:
                raise RerankTimedOut(
                    f"the cross-encoder {self.model!r} scored {len(scores)} of {len(pairs)} passages in {seconds:g} s;"
                    " raise search.rerank.timeout_seconds, or lower search.pool"
                )
            scores += self._scores(model, pairs[start : start + self.batch_size])
        return [RerankScore(score) for score in scores]

    def _scores(self, model: CrossEncoder, pairs: list[tuple[str, str]]) -> list[float]:
        try:
            with self._lock:
                output = np.asarray(model.predict(pairs, batch_size=self.batch_size, show_progress_bar=False))
        except (RuntimeError, ValueError, IndexError) as error:
            raise RerankFailed(f"the cross-encoder {self.model!r} failed: {error}") from error
        if output.shape != (len(pairs),) or not np.isfinite(output).all():
            raise RerankFailed(
                f"{self.model!r} does not give one score for each passage; name a cross-encoder with one output"
            )
        return [float(score) for score in output]

    def _model(self) -> CrossEncoder:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> CrossEncoder:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self.model, local_files_only=self.offline)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise RerankFailed(
                f"the cross-encoder {self.model!r} cannot be loaded: {error}; set search.rerank.model to its folder"
            ) from error
