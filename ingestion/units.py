"""Cuts a block that is too large for one chunk where it hurts least.

A table or a code block is cut between lines, a list between its items, prose between sentences; a line or sentence
that is still too large between words, and a word that is too large between code points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from ingestion.sentences import sentence_spans
from ingestion.types import Block, BlockKind

CountTokens = Callable[[Sequence[str]], list[int]]

_LINE = re.compile(r"\S[^\n]*")
_WORD = re.compile(r"\S+")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|\d{1,9}[.)])[ \t]")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_CHARACTERS_PER_TOKEN = 8
"""A token is taken to be no longer than this: models call a long word without blanks one unknown token."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the text that is not cut further; ``size`` is its length in tokens.

    ``context`` is what a chunk that begins with the unit needs from further up, ``context_size`` its tokens.
    """

    char_start: int
    char_end: int
    size: int
    block: int
    context: str = ""
    context_size: int = 0


@dataclass(frozen=True, slots=True)
class _Piece:
    char_start: int
    char_end: int
    block: int
    limit: int
    size: int = 0
    """Length in tokens; 0 until it is measured."""


def measure(text: str, spans: Sequence[tuple[int, int]], count_tokens: CountTokens) -> list[int]:
    """Length of each part in tokens; never less than its characters allow."""
    parts = [text[start:end] for start, end in spans]
    if not parts:
        return []
    return [
        max(count, ceil(len("".join(part.split())) / _CHARACTERS_PER_TOKEN), 1)
        for count, part in zip(count_tokens(parts), parts, strict=True)
    ]


def divide(
    text: str, blocks: Sequence[Block], sizes: Sequence[int], limits: Sequence[int], count_tokens: CountTokens
) -> list[Unit]:
    """Units of the blocks, whose sizes are those of ``measure``, in order, each within its block's limit in tokens.

    Every level of cutting counts the tokens of its new parts in one call.
    """
    pieces = [
        _Piece(block.char_start, block.char_end, index, limit, size)
        for index, (block, size, limit) in enumerate(zip(blocks, sizes, limits, strict=True))
    ]
    done: list[Unit] = []
    cutters: list[Callable[[_Piece], list[tuple[int, int]]]] = [
        lambda piece: _parts(text, piece, blocks[piece.block].kind),
        lambda piece: sentence_spans(text, piece.char_start, piece.char_end),
        lambda piece: _matches(_LINE, text, piece),
        lambda piece: _matches(_WORD, text, piece),
    ]
    for cut in cutters:
        pieces = _settle(text, pieces, count_tokens, done)
        pieces = [part for piece in pieces for part in _cut(piece, cut(piece))]
    while pieces:
        pieces = _settle(text, pieces, count_tokens, done)
        pieces = [part for piece in pieces for part in _cut(piece, _equal_parts(text, piece))]
    return sorted(done, key=lambda unit: unit.char_start)


def _settle(text: str, pieces: Sequence[_Piece], count_tokens: CountTokens, done: list[Unit]) -> list[_Piece]:
    """Move the pieces that fit to ``done`` and return the others."""
    new = [(piece.char_start, piece.char_end) for piece in pieces if not piece.size]
    sizes = iter(measure(text, new, count_tokens))
    left: list[_Piece] = []
    for piece in pieces:
        size = piece.size or next(sizes)
        if size <= piece.limit or piece.char_end - piece.char_start == 1:
            done.append(Unit(piece.char_start, piece.char_end, size, piece.block))
        else:
            left.append(replace(piece, size=size))
    return left


def _cut(piece: _Piece, spans: Sequence[tuple[int, int]]) -> list[_Piece]:
    """Parts of a piece; one that is the whole piece again keeps its size."""
    if spans == [(piece.char_start, piece.char_end)]:
        return [piece]
    return [_Piece(start, end, piece.block, piece.limit) for start, end in spans]


def _parts(text: str, piece: _Piece, kind: BlockKind) -> list[tuple[int, int]]:
    if kind in ("table", "code"):
        return _matches(_LINE, text, piece)
    if kind in ("list", "quote"):
        return _items(text, piece)
    return sentence_spans(text, piece.char_start, piece.char_end)


def _matches(pattern: re.Pattern[str], text: str, piece: _Piece) -> list[tuple[int, int]]:
    spans = [match.span() for match in pattern.finditer(text, piece.char_start, piece.char_end)]
    return [(start, start + len(text[start:end].rstrip())) for start, end in spans]


def _items(text: str, piece: _Piece) -> list[tuple[int, int]]:
    """Items of a list with the lines that belong to them; a fenced block within an item is one part."""
    parts: list[list[int]] = []
    fence = ""
    for start, end in _matches(_LINE, text, piece):
        line_start = text.rfind("\n", piece.char_start, start) + 1 or piece.char_start
        line = text[line_start:end]
        mark = _FENCE.match(line)
        joins = bool(parts) and (bool(fence) or (not _ITEM.match(line) and mark is None))
        if joins:
            parts[-1][1] = end
        else:
            parts.append([start, end])
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
    return [(start, end) for start, end in parts]


def _equal_parts(text: str, piece: _Piece) -> list[tuple[int, int]]:
    """As many parts of a word as its size asks for; a combining mark stays with its letter where it can."""
    length = piece.char_end - piece.char_start
    count = min(max(ceil(piece.size / max(piece.limit, 1)), 2), length)
    borders = [piece.char_start]
    for number in range(1, count):
        border = max(piece.char_start + length * number // count, borders[-1] + 1)
        while border < piece.char_end - 1 and unicodedata.combining(text[border]):
            border += 1
        if borders[-1] < border < piece.char_end:
            borders.append(border)
    return list(pairwise([*borders, piece.char_end]))
