"""Filters that a question states in plain words, read so that they can be told and dropped.

Words become a filter only where the store holds such a collection or value within what the person may see, and only
where something is left to search. A filter that is read narrows the given one and never widens it. Of the store it
knows one function that counts, and asks it only about words that look like a filter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from retrieval.analyser import analyse
from retrieval.filter_words import FilterKind, Wish, wishes
from retrieval.filters import narrowed
from retrieval.types import SearchFilter

Count: TypeAlias = Callable[[SearchFilter], int]
"""Number of chunks that a filter lets through: ``VectorStore.count``."""


@dataclass(frozen=True, slots=True)
class ReadFilter:
    """A filter that was read from the words of a question.

    Attributes:
        name: What it says, such as ``collection=runbooks``; give it to ``drop`` to search without it.
        kind: What it speaks of.
        words: The words that it was read from.
        applied: Whether it acts; False where it was dropped, or would have left nothing beside the others.
    """

    name: str
    kind: FilterKind
    words: str
    applied: bool


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question and the filters that were read from it.

    Attributes:
        query: What to search for: the question without the words of filters that act.
        search_filter: The given filter, narrowed by those.
        filters: Every filter that was read, in the order of the question.
    """

    query: str
    search_filter: SearchFilter
    filters: tuple[ReadFilter, ...] = ()


def read_filters(question: str, *, within: SearchFilter, count: Count, drop: Collection[str] = ()) -> ReadQuestion:
    """Read the filters that a question states.

    Args:
        question: As typed.
        within: What the person may see; the result lets nothing else through.
        count: Counts the chunks of a filter; every filter it is given is narrower than ``within``.
        drop: Names of filters that are not to act.
    """
    scope = within
    acting: list[Wish] = []
    read: list[tuple[int, ReadFilter]] = []
    taken: list[Wish] = []
    for wish in wishes(question):
        if any(wish.start < other.end and other.start < wish.end for other in taken):
            continue
        meant = next((reading for reading in wish.readings if count(narrowed(within, reading[1])) > 0), None)
        if meant is None:
            continue
        taken.append(wish)
        name, stated = meant
        together = narrowed(scope, stated)
        applied = name not in drop and count(together) > 0
        if applied:
            scope = together
            acting.append(wish)
        read.append((wish.start, ReadFilter(name, wish.kind, question[wish.start : wish.end], applied)))
    filters = tuple(found for _, found in sorted(read, key=lambda entry: entry[0]))
    return ReadQuestion(_without(question, acting), scope, filters)


def _without(question: str, acting: Sequence[Wish]) -> str:
    """The question without these words; the whole where nothing would be left to search for."""
    rest = question
    for wish in sorted(acting, key=lambda wish: wish.start, reverse=True):
        rest = f"{rest[: wish.start]} {rest[wish.end :]}"
    rest = re.sub(r"\s+([,.;:?!])", r"\1", " ".join(rest.split())).lstrip(" ,.;:")
    rest = re.sub(r"[,;]([.?!])", r"\1", rest)
    return rest if acting and analyse(rest) else question
