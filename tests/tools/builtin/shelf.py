"""Two stored documents with their chunks, as the ledger and the store give them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from retrieval.errors import StoreUnavailable
from retrieval.types import Chunk, Hit, HitScores, SearchFilter, SearchResult, SearchTimings, SearchWarning
from tests.retrieval.oracle import may_be_seen

TEXT = "# Limits\n\nA container over its memory limit is killed.\n\nRaise the limit to at most twice its value.\n"


@dataclass(frozen=True, slots=True)
class Document:
    source: str
    title: str


@dataclass(frozen=True, slots=True)
class Collection:
    name: str


def chunk(position: int, start: int, end: int, *, section: str) -> Chunk:
    return Chunk(
        chunk_id=f"chunk-{position}",
        document_id="doc-1",
        collection="handbook",
        source="runbooks/limits.md",
        title="Limits",
        position=position,
        text=TEXT[start:end],
        char_start=start,
        char_end=end,
        page=position + 1,
        heading_path=("Limits", section),
    )


CHUNKS = [chunk(0, 0, 56, section="Kills"), chunk(1, 40, len(TEXT), section="Raising")]
"""They overlap, as the chunks of a long section do."""


class Shelf:
    """The ledger, the store and the search at once."""

    def __init__(self, *, broken: bool = False, warnings: tuple[SearchWarning, ...] = ()) -> None:
        self.broken = broken
        self.warnings = warnings
        self.scopes: list[SearchFilter] = []

    async def document(self, document_id: str) -> Document | None:
        return {
            "doc-1": Document("runbooks/limits.md", "Limits"),
            "failed": Document("scan.pdf", ""),
            "plain": Document("notes.txt", ""),
        }.get(document_id)

    async def text(self, document_id: str) -> str | None:
        return {"doc-1": TEXT, "plain": "x" * 10_000}.get(document_id)

    async def collections(self) -> list[Collection]:
        return [Collection("handbook"), Collection("reports")]

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        if self.broken:
            raise StoreUnavailable("The store is locked.")
        return [chunk for chunk in CHUNKS if may_be_seen(chunk, search_filter)]

    def search(self, query: str, *, search_filter: SearchFilter, limit: int) -> SearchResult:
        if self.broken:
            raise StoreUnavailable("The store is locked.")
        self.scopes.append(search_filter)
        words = set(query.lower().split())
        found = [chunk for chunk in CHUNKS if words & set(chunk.text.lower().split())][:limit]
        hits = tuple(Hit(rank, replace(chunk), HitScores(fused=1 / rank)) for rank, chunk in enumerate(found, start=1))
        return SearchResult(query, hits, SearchTimings(0, 0, 0, 0), warnings=self.warnings)
