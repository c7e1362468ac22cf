"""An embedder without a model: deterministic vectors of hashed words, for tests and a first look without downloads."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from retrieval.analyser import analyse
from retrieval.types import FloatMatrix, FloatVector

_VERSION = 1
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    """An ``Embedder`` that knows words but no meaning: texts are near when they share terms.

    Every term adds 1 or -1 to one of ``dim`` places, both chosen by its hash (feature hashing: Weinberger et al.,
    "Feature Hashing for Large Scale Multitask Learning", ICML 2009). A token is a word or a punctuation mark.
    """

    dim: int = 256
    max_tokens: int = 256

    @property
    def fingerprint(self) -> str:
        """Kind, size and version: vectors of another one do not compare."""
        return f"hashing-{self.dim}-{self.max_tokens}@{_VERSION}"

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of texts, shape ``(len(texts), dim)``, in input order."""
        return np.stack([self.embed_query(text) for text in texts]) if texts else np.zeros((0, self.dim), np.float32)

    def embed_query(self, text: str) -> FloatVector:
        """Vector of one text; a text without terms gets a fixed one, for every vector has length 1."""
        vector = np.zeros(self.dim, dtype=np.float32)
        for term in analyse(self._cut(text)):
            place, sign = divmod(int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest()), 2)
            vector[place % self.dim] += 1 if sign else -1
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            vector[0] = norm = 1.0
        return vector / np.float32(norm)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of words and punctuation marks of each text."""
        return [sum(1 for _ in _TOKEN.finditer(text)) for text in texts]

    def _cut(self, text: str) -> str:
        for number, match in enumerate(_TOKEN.finditer(text)):
            if number == self.max_tokens:
                return text[: match.start()]
        return text
