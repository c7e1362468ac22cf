"""The natural language of a document: declared where it is, else told from its prose. Works offline.

The detector is py3langid (BSD-3-Clause, a model of 4 MB inside its wheel); it is asked about prose alone, as code and
tables look like many languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, cast

from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

KEY = "language"
"""Metadata key; the value is an ISO 639 code, lower case, without a region."""
_DECLARED = re.compile(r"([a-zA-Z]{2,3})(?:[-_][\w-]{1,20})?")
_MIN_LETTERS = 40
"""Below, the detector guesses; of 22 sentences of 60 letters in 22 languages it told 20 and none wrongly."""
_MIN_PROBABILITY = 0.9
_SAMPLE_CHARACTERS = 2000
_NOT_PROSE = re.compile(r"https?://\S+|[\w.+-]+@[\w.-]+|`[^`]*`|\S*[\\/_=<>{}\[\]|]\S*|\S*\d\S*")
_PROSE = frozenset(("paragraph", "list", "quote", "heading"))


class _Guess(NamedTuple):
    language: str
    probability: float


def with_language(document: ParsedDocument) -> ParsedDocument:
    """The document with its language among the metadata; unchanged where it cannot be told."""
    declared = document.metadata.get(KEY)
    if isinstance(declared, str) and (match := _DECLARED.fullmatch(declared.strip())):
        language = match[1].lower()
    elif declared is not None or not (language := detect(_sample(document))):
        return document
    metadata: dict[str, MetadataValue] = {**document.metadata, KEY: language}
    return ParsedDocument(
        document.title, document.text, document.blocks, document.media_type, document.page_count, metadata
    )


def detect(text: str) -> str:
    """ISO 639-1 code of the text's language; empty for text that is too short or mixed to tell."""
    prose = _NOT_PROSE.sub(" ", text)
    if sum(map(str.isalpha, prose)) < _MIN_LETTERS and not _is_dense(prose):
        return ""
    guess = _Guess(*cast("tuple[str, float]", _detector().classify(" ".join(prose.split()))))
    return guess.language if guess.probability >= _MIN_PROBABILITY else ""


def _is_dense(text: str) -> bool:
    """Scripts that say in 15 letters what others say in 40."""
    return sum("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af" for character in text) >= 15


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _sample(document: ParsedDocument) -> str:
    parts: list[str] = []
    length = 0
    for part in _prose(document):
        parts.append(part)
        length += len(part)
        if length >= _SAMPLE_CHARACTERS:
            break
    return " ".join(parts)[:_SAMPLE_CHARACTERS]


def _prose(document: ParsedDocument) -> Iterator[str]:
    """Parts that are prose: headings and short lines are names more often than sentences."""
    for block in document.blocks:
        if block.kind in _PROSE and block.char_end - block.char_start >= _MIN_LETTERS:
            yield document.text[block.char_start : min(block.char_end, block.char_start + _SAMPLE_CHARACTERS)]
