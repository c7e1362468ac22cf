"""Longest common subsequence of a claim's tokens and a span's tokens, and the gaps it leaves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from agents.proof.tokens import Token


class Pair(NamedTuple):
    """Places of one agreeing token in claim and span."""

    claim: int
    span: int


class Gap(NamedTuple):
    """Tokens between two neighbouring pairs; at an edge one side is the edge of claim or span."""

    claim: tuple[Token, ...]
    span: tuple[Token, ...]
    at_edge: bool


def agree(left: Token, right: Token) -> bool:
    """Whether two tokens say the same: equal keys, figures that share a reading, a dotted name and its last part."""
    if left.forms and right.forms:
        return not left.forms.isdisjoint(right.forms)
    if left.key == right.key:
        return True
    both = left.kind == "identifier" and right.kind == "identifier"
    return both and (left.key.endswith(f".{right.key}") or right.key.endswith(f".{left.key}"))


def align(claim: Sequence[Token], span: Sequence[Token]) -> list[Pair]:
    """Pairs of the longest common subsequence, in order. Hunt and Szymanski, CACM 20(5), 1977."""
    places: dict[str, list[int]] = {}
    for number, token in enumerate(span):
        places.setdefault(_last_part(token), []).append(number)
    figures = [number for number, token in enumerate(span) if token.forms]
    tails: list[int] = []
    tail_links: list[int] = []
    links: list[tuple[Pair, int]] = []
    for number, token in enumerate(claim):
        matches = [i for i in figures if agree(token, span[i])] if token.forms else places.get(_last_part(token), [])
        for place in reversed(matches):
            if not agree(token, span[place]):
                continue
            length = bisect_left(tails, place)
            links.append((Pair(number, place), tail_links[length - 1] if length else -1))
            if length == len(tails):
                tails.append(place)
                tail_links.append(len(links) - 1)
            else:
                tails[length] = place
                tail_links[length] = len(links) - 1
    pairs: list[Pair] = []
    link = tail_links[-1] if tail_links else -1
    while link >= 0:
        pair, link = links[link]
        pairs.append(pair)
    return pairs[::-1]


def _last_part(token: Token) -> str:
    return token.key.rpartition(".")[2] if token.kind == "identifier" else token.key


def gaps(claim: Sequence[Token], span: Sequence[Token], pairs: Sequence[Pair], reach: int) -> list[Gap]:
    """Places where claim or span has tokens of its own; at the edges at most ``reach`` tokens of the span are taken."""
    if not pairs:
        return []
    first, last = pairs[0], pairs[-1]
    found = [Gap(tuple(claim[: first.claim]), tuple(span[max(0, first.span - reach) : first.span]), at_edge=True)]
    for left, right in pairwise(pairs):
        inside = tuple(claim[left.claim + 1 : right.claim]), tuple(span[left.span + 1 : right.span])
        found.append(Gap(*inside, at_edge=False))
    tail = tuple(claim[last.claim + 1 :]), tuple(span[last.span + 1 : last.span + 1 + reach])
    found.append(Gap(*tail, at_edge=True))
    return [gap for gap in found if gap.claim or gap.span]
