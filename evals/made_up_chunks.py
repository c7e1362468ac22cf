"""Chunks made up from a vocabulary with natural frequencies, any number of them, the same for the same seed.

Their vectors are random: how long a search takes does not depend on what they mean. Texts repeat after
``DIFFERENT_TEXTS`` chunks, so that a million of them can be made in minutes; vectors never do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np

from evals.retrieval import EvaluationProgress
from retrieval.lexical import LexicalEncoder
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, IndexedChunk, SparseVector, index_text

COLLECTIONS = 10
DIFFERENT_TEXTS = 20_000
_SEED = 11
_VOCABULARY = 50_000
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_WORDS_PER_CHUNK = 120
_WORDS_PER_QUESTION = 8
_CHUNKS_PER_DOCUMENT = 20
_BATCH = 500


def questions(number: int) -> list[str]:
    """Questions of the same vocabulary, other ones than the texts."""
    words = _Words(_SEED + 1)
    return [words.text(_WORDS_PER_QUESTION) for _ in range(number)]


def fill(
    stores: Sequence[VectorStore],
    *,
    dim: int,
    lexical: LexicalEncoder,
    chunks: int,
    on_progress: Callable[[EvaluationProgress], None],
) -> None:
    """Write the same chunks to every store."""
    words = _Words(_SEED)
    generator = np.random.default_rng(_SEED)
    texts: list[tuple[str, SparseVector]] = []
    for start in range(0, chunks, _BATCH):
        numbers = range(start, min(start + _BATCH, chunks))
        vectors = generator.standard_normal((len(numbers), dim), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        points: list[IndexedChunk] = []
        for number, vector in zip(numbers, vectors, strict=True):
            if number < DIFFERENT_TEXTS:
                chunk = _chunk(number, words.text(_WORDS_PER_CHUNK))
                texts.append((chunk.text, lexical.encode_document(index_text(chunk))))
            text, sparse = texts[number % DIFFERENT_TEXTS]
            points.append(IndexedChunk(_chunk(number, text), vector, sparse))
        for store in stores:
            store.upsert(points)
        on_progress(EvaluationProgress("index", start + len(numbers), chunks))


def _chunk(number: int, text: str) -> Chunk:
    document = number // _CHUNKS_PER_DOCUMENT
    return Chunk(
        chunk_id=str(UUID(int=number)),
        document_id=str(UUID(int=document)),
        collection=f"collection-{document % COLLECTIONS}",
        source=f"document-{document}",
        title=f"Document {document % DIFFERENT_TEXTS}",
        position=number % _CHUNKS_PER_DOCUMENT,
        text=text,
        char_start=0,
        char_end=len(text),
    )


class _Words:
    """Words made up of syllables, the nth drawn with a frequency of 1 / n (Zipf's law)."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self._vocabulary = [_word(number) for number in range(_VOCABULARY)]
        total, self._cumulative = 0.0, list[float]()
        for number in range(_VOCABULARY):
            total += 1 / (number + 1)
            self._cumulative.append(total)

    def text(self, length: int) -> str:
        return " ".join(self._generator.choices(self._vocabulary, cum_weights=self._cumulative, k=length))


def _word(number: int) -> str:
    """Letters alone, as most words are: an analyser looks longer at names with digits in them."""
    word = ""
    while number or len(word) < 4:
        number, place = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[place]
    return word
