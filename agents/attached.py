"""Texts that a person attached to one chat, as passages: whole where they fit, else the pieces nearest to the question.

They are proved and cited like documents, with offsets into the attached text as it is stored. Knows no server, no file
and no database; what is attached is text from outside and taints the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agents.chat_model import ChatModel
from retrieval.small_ranker import rank_small
from retrieval.types import Chunk, Hit, HitScores

COLLECTION = "groundwork:attachments"
"""Stands where documents have their collection; no document can be in it."""
BESIDE = 2
"""Passages kept free for what the search found, where it found something."""
ANSWER_SHARE = 0.75
"""Share of the evidence that attached texts may take in an answer from documents, where the search found something."""
ACTING_SHARE = 0.5
"""The same for an agent, whose tool results need room as well."""
_TITLE = "Attached: "
"""Before the name in a passage's title; the word is for the model too: people ask about "the attached report"."""
_PASSAGE_TOKENS = 24
"""Room for the borders and the heading of one passage in the prompt."""
_CHARACTERS_PER_TOKEN = 8
"""A text that is longer than so many characters for each token of room does not fit, and need not be counted."""
_COUNTED_PER_PASSAGE = 3
"""Pieces that are counted for each passage that may be taken: some are too long, a shorter one may still fit."""


@dataclass(frozen=True, slots=True)
class AttachedPiece:
    """A stretch of an attached text, small enough for a prompt."""

    char_start: int
    char_end: int
    page: int | None = None
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachedText:
    """One attached text.

    Attributes:
        attachment_id: Its id.
        name: What people call it.
        source: Where it came from: ``mcp:SERVER:URI``, ``file:NAME``, or the source of a stored document.
        text: All of it, as it is stored.
        pieces: Stretches of it in order, which together cover all but white space.
    """

    attachment_id: str
    name: str
    source: str
    text: str
    pieces: tuple[AttachedPiece, ...]


AttachedTexts: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[AttachedText]]]
"""Texts of these ids in their order; those that are gone are left out."""


async def nothing_attached(_attachment_ids: Sequence[str]) -> Sequence[AttachedText]:
    """No texts."""
    return ()


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a prompt attached texts may take."""

    tokens: int
    passages: int


def room_for_attached(
    *, evidence_tokens: int, evidence_passages: int, window_tokens: int, share: float, beside: bool
) -> Room:
    """The room for attached texts in a prompt.

    Args:
        evidence_tokens: Most tokens of passages in one prompt.
        evidence_passages: Most passages in one prompt.
        window_tokens: Context window without what is kept free for the answer.
        share: Share of the evidence they may take beside other passages.
        beside: Whether there are other passages.
    """
    # Half of the window at most: instructions, question and earlier turns take the rest.
    tokens = min(evidence_tokens, window_tokens // 2)
    if not beside:
        return Room(tokens, evidence_passages)
    return Room(int(tokens * share), max(1, evidence_passages - BESIDE))


async def attached_hits(texts: Sequence[AttachedText], query: str, *, model: ChatModel, room: Room) -> tuple[Hit, ...]:
    """Passages of attached texts, best first: each text whole where all fit, else the pieces nearest to the query.

    A query that shares no term with any piece ("sum this up") gets the pieces from the beginning.
    """
    if not texts or room.passages < 1:
        return ()
    if len(texts) <= room.passages and sum(len(entry.text) for entry in texts) <= room.tokens * _CHARACTERS_PER_TOKEN:
        counts = await model.count_tokens([entry.text for entry in texts])
        if sum(counts) + _PASSAGE_TOKENS * len(texts) <= room.tokens:
            return tuple(Hit(rank, _whole(entry), HitScores(fused=1.0)) for rank, entry in enumerate(texts, start=1))
    return await _nearest(texts, query, model=model, room=room)


def beside_attached(attached: Sequence[Hit], found: Sequence[Hit], *, limit: int) -> tuple[Hit, ...]:
    """Attached passages, then what was found, together at most ``limit``."""
    return (*attached, *found)[:limit]


def attachment_of(chunk: Chunk) -> str:
    """Id of the attached text that a passage is from; empty for any other passage."""
    return chunk.document_id if chunk.collection == COLLECTION else ""


def attachment_names(attached: Sequence[Hit]) -> str:
    """Names of the texts that passages are from, for people."""
    return ", ".join(dict.fromkeys(hit.chunk.title.removeprefix(_TITLE) for hit in attached))


def with_attached(attached: Sequence[Hit], hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Attached passages before those that the search found, ranked anew."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate((*attached, *hits), start=1))


async def _nearest(texts: Sequence[AttachedText], query: str, *, model: ChatModel, room: Room) -> tuple[Hit, ...]:
    chunks = [_piece(entry, position) for entry in texts for position in range(len(entry.pieces))]
    ranked = rank_small(query, [f"{chunk.section}\n{chunk.text}" for chunk in chunks])
    looked_at = ranked[: room.passages * _COUNTED_PER_PASSAGE]
    counts = await model.count_tokens([chunks[entry.position].text for entry in looked_at])
    chosen: list[Hit] = []
    left = room.tokens
    for rank, (entry, count) in enumerate(zip(looked_at, counts, strict=True), start=1):
        if len(chosen) < room.passages and count + _PASSAGE_TOKENS <= left:
            left -= count + _PASSAGE_TOKENS
            scores = HitScores(bm25=entry.score, bm25_rank=rank, fused=1.0)
            chosen.append(Hit(len(chosen) + 1, chunks[entry.position], scores))
    return tuple(chosen)


def _whole(entry: AttachedText) -> Chunk:
    first, last = entry.pieces[0], entry.pieces[-1]
    return _chunk(entry, 0, AttachedPiece(first.char_start, last.char_end, first.page))


def _piece(entry: AttachedText, position: int) -> Chunk:
    return _chunk(entry, position, entry.pieces[position])


def _chunk(entry: AttachedText, position: int, piece: AttachedPiece) -> Chunk:
    return Chunk(
        chunk_id=f"{entry.attachment_id}-{piece.char_start}-{piece.char_end}",
        document_id=entry.attachment_id,
        collection=COLLECTION,
        source=entry.source,
        title=f"{_TITLE}{entry.name}",
        position=position,
        text=entry.text[piece.char_start : piece.char_end],
        char_start=piece.char_start,
        char_end=piece.char_end,
        page=piece.page,
        heading_path=piece.heading_path,
    )
