"""A parsed document to chunks: pure, structure first, sized in the embedding model's own tokens.

Small blocks of one section share a chunk, a heading stands at the head of what follows it, and nothing is cut that
fits. ``chunk.text`` is always a slice of the document's text; together the chunks cover all but white space. What a
later part of a table or list needs from further up is in ``chunk.context``, and its tokens count against the limit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from uuid import UUID, uuid5

from ingestion.contexts import table_headers, with_contexts
from ingestion.settings import IngestionSettings
from ingestion.types import Block, DocumentIdentity, ParsedDocument
from ingestion.units import CountTokens, Unit, divide, measure
from retrieval.types import Chunk

_MIN_BODY_SHARE = 0.5
"""A heading that would take more than this share of a chunk does not narrow what follows it."""


def split(
    document: ParsedDocument, *, identity: DocumentIdentity, settings: IngestionSettings, count_tokens: CountTokens
) -> list[Chunk]:
    """Chunks of a document in order; none for a document without blocks.

    Args:
        document: What a loader made; its blocks are in order and do not overlap.
        identity: Goes into every chunk and its id.
        settings: Size of chunks and their overlap.
        count_tokens: The embedder's own count; called a few times for a whole document.
    """
    blocks = document.blocks
    sizes = measure(document.text, [(block.char_start, block.char_end) for block in blocks], count_tokens)
    limits = _limits(blocks, sizes, settings.chunk_tokens)
    headers = table_headers(document.text, blocks, sizes, limits, count_tokens)
    limits = [limit - headers[block].size if block in headers else limit for block, limit in enumerate(limits)]
    units = divide(document.text, blocks, sizes, limits, count_tokens)
    units = with_contexts(document, units, headers=headers, limit=settings.chunk_tokens, count_tokens=count_tokens)
    overlap = min(settings.overlap_tokens, settings.chunk_tokens // 2)
    groups = [
        group
        for section in _sections(units, blocks)
        for group in _with_overlap(_pack(section, settings.chunk_tokens - overlap), settings)
    ]
    groups, counts = _fit(document.text, groups, settings.chunk_tokens, count_tokens)
    return [
        _chunk(document, identity, position, _Span(group, count))
        for position, (group, count) in enumerate(zip(groups, counts, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class _Span:
    units: Sequence[Unit]
    token_count: int


def _limits(blocks: Sequence[Block], sizes: Sequence[int], limit: int) -> list[int]:
    """Limit of each block: the first block of a section leaves room for the headings above it."""
    limits: list[int] = []
    above = 0
    for block, size in zip(blocks, sizes, strict=True):
        if block.kind == "heading":
            above += size
            limits.append(limit)
            continue
        fits = size <= limit - above or above > limit * _MIN_BODY_SHARE
        limits.append(limit if fits else limit - above)
        above = 0
    return limits


def _sections(units: Sequence[Unit], blocks: Sequence[Block]) -> Iterator[list[Unit]]:
    """Units of each section; headings without text of their own go to the section below them."""
    pending: list[Unit] = []
    for _, group in groupby(units, key=lambda unit: blocks[unit.block].heading_path):
        section = [*pending, *group]
        if all(blocks[unit.block].kind == "heading" for unit in section):
            pending = section
            continue
        pending = []
        yield section
    if pending:
        yield pending


def _pack(units: Sequence[Unit], limit: int) -> list[list[Unit]]:
    """Groups within the limit, of like size: first as few as it takes, then evened out."""
    few = _fill(units, limit, limit)
    if len(few) < 2:
        return few
    even = -(-sum(unit.size for unit in units) // len(few))
    balanced = _fill(units, limit, even)
    return balanced if len(balanced) == len(few) else few


def _fill(units: Sequence[Unit], limit: int, target: int) -> list[list[Unit]]:
    groups: list[list[Unit]] = []
    size = 0
    for unit in units:
        if groups and size + unit.size <= limit and size < target:
            groups[-1].append(unit)
            size += unit.size
        else:
            groups.append([unit])
            size = unit.size + unit.context_size
    return groups


def _with_overlap(groups: list[list[Unit]], settings: IngestionSettings) -> list[list[Unit]]:
    """Groups that begin with the last units of the one before, as many as the overlap and the limit allow."""
    if settings.overlap_tokens == 0:
        return groups
    result = groups[:1]
    for before, group in pairwise(groups):
        room = min(settings.overlap_tokens, settings.chunk_tokens - sum(unit.size for unit in group))
        repeated: list[Unit] = []
        for unit in reversed(before[1:]):
            room -= unit.size
            if room < unit.context_size:
                break
            repeated.insert(0, unit)
        result.append([*repeated, *group])
    return result


def _fit(
    text: str, groups: list[list[Unit]], limit: int, count_tokens: CountTokens
) -> tuple[list[list[Unit]], list[int]]:
    """Groups with their true counts; where joined parts count more than their sum, a group is halved."""
    while True:
        counts = count_tokens([text[group[0].char_start : group[-1].char_end] for group in groups]) if groups else []
        fitting = [
            len(group) == 1 or count + group[0].context_size <= limit
            for group, count in zip(groups, counts, strict=True)
        ]
        if all(fitting):
            return groups, counts
        halved: list[list[Unit]] = []
        for group, fits in zip(groups, fitting, strict=True):
            middle = len(group) // 2
            halved.extend([group] if fits else [group[:middle], group[middle:]])
        groups = halved


def _chunk(document: ParsedDocument, identity: DocumentIdentity, position: int, span: _Span) -> Chunk:
    first, last = span.units[0], span.units[-1]
    text = document.text[first.char_start : last.char_end]
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Chunk(
        chunk_id=str(uuid5(UUID(identity.document_id), f"{digest}:{position}")),
        document_id=identity.document_id,
        collection=identity.collection,
        source=identity.source,
        title=document.title,
        position=position,
        text=text,
        char_start=first.char_start,
        char_end=last.char_end,
        page=document.blocks[first.block].page,
        heading_path=document.blocks[last.block].heading_path,
        token_count=span.token_count,
        metadata=document.metadata,
        context=first.context,
    )
