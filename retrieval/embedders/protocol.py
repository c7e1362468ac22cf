"""The promise every embedder keeps; held by tests/contracts/test_embedder.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from retrieval.types import FloatMatrix, FloatVector


class Embedder(Protocol):
    """Turns text into L2-normalised float32 vectors. Safe to call from several threads.

    ``fingerprint`` names model and weights; vectors of different fingerprints must never meet in one store.
    """

    @property
    def fingerprint(self) -> str:
        """Model name and a short hash of its weights."""
        ...

    @property
    def dim(self) -> int:
        """Length of each vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens, special tokens included; longer input is cut."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of passages, shape ``(len(texts), dim)``, in input order; ``(0, dim)`` for no texts."""
        ...

    def embed_query(self, text: str) -> FloatVector:
        """Vector of one question, shape ``(dim,)``."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's own tokens, special tokens not counted, never cut."""
        ...
