"""Text to index terms, for prose and for what operations people type: the same at index and at query time.

Every run of letters and digits gives a term. A run that is made of several parts gives the whole and its parts, so
``OOMKilled`` is found by ``oomkilled``, ``OOM`` and ``killed``, and ``--max-old-space-size`` by any of its words. The
whole is written without hyphens and underscores, so ``crash-loop``, ``crash_loop`` and ``crashloop`` are one term.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import snowballstemmer

_LONGEST_TERM = 128
"""Longer spellings (encoded data, lines without spaces) give no term of their own; their parts do."""
_RUN_CACHE_SIZE = 65_536
_TEXT_CACHE_SIZE = 4096
_JOINTS = "-./:@+~"

# Python's \w leaves out combining marks, without which words of Indic scripts, Arabic and Hebrew fall apart.
_MARKS = "".join(chr(code) for code in range(0x300, 0x3000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
# Scripts written without spaces between words, and Hangul with its attached particles.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"[\w{_MARKS}]+(?:[{_JOINTS}]+[\w{_MARKS}]+)*")
_ASCII_RUN = re.compile(rf"\w+(?:[{_JOINTS}]+\w+)*", re.ASCII)
"""The same for plain text, without the classes of other scripts."""
_JOINT_OR_UNDERSCORE = re.compile(rf"[{_JOINTS}_]+")
_CASED_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_UNSPACED_PIECE = re.compile(rf"([{_UNSPACED}]+)")
_CONTRACTION = re.compile(r"['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+|[\u064b-\u065f\u0670]+")
_NETWORK_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}(?:[:/][0-9]+)*")
_STEMMABLE = re.compile(r"[a-z]{3,}")

_STOP_WORDS_FILE = Path(__file__).with_name("stop_words.txt")
STOP_WORDS = frozenset(_STOP_WORDS_FILE.read_text(encoding="utf-8").split())
"""English words that say nothing about a passage."""


class Token(NamedTuple):
    """One term of a text and the lower-cased spelling that it came from."""

    term: str
    spelling: str


def analyse(text: str) -> list[str]:
    """Index terms of a text in reading order, repeats kept; empty for a text of stop words and punctuation."""
    return [
        term for run in _runs(text) for term in (_cached_terms(run) if len(run) <= _LONGEST_TERM else _run_terms(run))
    ]


def tokens(text: str) -> Iterator[Token]:
    """Index terms with their spellings, in the order of ``analyse``."""
    for run in _runs(text):
        yield from _run_tokens(run)


@lru_cache(maxsize=_TEXT_CACHE_SIZE)
def terms_of(text: str) -> tuple[str, ...]:
    """``analyse`` for passages, which searches find again and again."""
    return tuple(analyse(text))


def _runs(text: str) -> list[str]:
    spelled = _CONTRACTION.sub("", _normalise(text)) if "'" in text or "’" in text else _normalise(text)
    return (_ASCII_RUN if spelled.isascii() else _RUN).findall(spelled)


def _normalise(text: str) -> str:
    """One spelling for what looks the same: compatibility forms; soft hyphens, accents and vowel marks left out."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.replace("\u00ad", ""))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


@lru_cache(maxsize=_RUN_CACHE_SIZE)
def _cached_terms(run: str) -> tuple[str, ...]:
    """Terms of one run; most runs of a text have been seen before."""
    return _run_terms(run)


def _run_terms(run: str) -> tuple[str, ...]:
    return tuple(token.term for token in _run_tokens(run))


def _run_tokens(run: str) -> Iterator[Token]:
    parts = _parts(run)
    if len(parts) > 1 and len(run) <= _LONGEST_TERM:
        yield _whole(run)
    for part in parts:
        yield from _part_tokens(part)


def _parts(run: str) -> list[str]:
    """Parts by joints and, in identifiers, by case; a network address stays whole."""
    if _NETWORK_ADDRESS.fullmatch(run):
        return [run]
    words = [word for word in _JOINT_OR_UNDERSCORE.split(run) if word]
    return [part for word in words for part in (_CASED_PART.findall(word) if _is_camel(word) else [word])]


def _is_camel(word: str) -> bool:
    return word.isascii() and _INNER_CAPITAL.search(word) is not None


def _whole(run: str) -> Token:
    spelling = run.lower()
    return Token(_stem(spelling.replace("-", "").replace("_", "")), spelling)


def _part_tokens(part: str) -> Iterator[Token]:
    lowered = part.lower()
    pieces = [lowered] if lowered.isascii() else [piece for piece in _UNSPACED_PIECE.split(lowered) if piece]
    for spelling in (spelling for piece in pieces for spelling in _pairs(piece)):
        if len(spelling) <= _LONGEST_TERM and spelling not in STOP_WORDS:
            yield Token(_stem(spelling), spelling)


def _pairs(piece: str) -> list[str]:
    """Overlapping pairs of characters of a script without spaces; any other piece as it is."""
    if len(piece) < 3 or not _UNSPACED_PIECE.fullmatch(piece):
        return [piece]
    return [piece[start : start + 2] for start in range(len(piece) - 1)]


def _stem(word: str) -> str:
    """The stem of a Latin word; anything with digits, joints or other letters is its own stem."""
    return _own_stemmer.english.stemWord(word) if _STEMMABLE.fullmatch(word) else word


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


class _OwnStemmer(threading.local):
    """A stemmer a thread: the library keeps state while it stems."""

    def __init__(self) -> None:
        self.english = cast("_Stemmer", snowballstemmer.stemmer("english"))


_own_stemmer = _OwnStemmer()
