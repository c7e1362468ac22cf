"""Small real passages and an in-memory search over them, for tests of the answer graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.proof.evidence import Evidence, content, prepare
from agents.proof.tokens import tokenise
from retrieval.errors import RetrievalError
from retrieval.types import Chunk, Hit, HitScores, SearchFilter, SearchResult, SearchTimings, SearchWarning

CONFIG_MAP = "The data stored in a ConfigMap cannot exceed 1 MiB. For larger settings, mount a volume instead."
OOM = (
    "If a container uses more memory than its limit, the kernel stops it with exit code 137 and the reason OOMKilled. "
    "The kubelet then restarts the container. Raise the memory limit or look for a memory leak."
)
JOB = (
    "The field `.spec.backoffLimit` is set to 6 by default. "
    "Failed Pods are created again after a delay that is capped at six minutes."
)

_ALL = SearchFilter()


def chunk(text: str, *, number: int = 0, title: str = "", document: str = "", start: int = 0) -> Chunk:
    """A passage that begins at ``start`` of its document."""
    return Chunk(
        chunk_id=f"chunk-{number}",
        document_id=document or f"document-{number}",
        collection="default",
        source=f"/handbook/{number}.md",
        title=title,
        position=number,
        text=text,
        char_start=start,
        char_end=start + len(text),
    )


def evidence(*texts: str) -> Evidence:
    """Evidence of one passage per text."""
    return prepare([chunk(text, number=number) for number, text in enumerate(texts)])


@dataclass
class WordSearch:
    """Ranks passages by shared words; the share of the query's words stands in for the cosine."""

    texts: Sequence[str]
    error: RetrievalError | None = None
    warnings: tuple[SearchWarning, ...] = ()
    queries: list[str] = field(default_factory=list[str])

    def search(self, query: str, *, search_filter: SearchFilter = _ALL, limit: int | None = None) -> SearchResult:
        self.queries.append(query)
        if self.error is not None:
            raise self.error
        asked = {token.key for token in content(tokenise(query))}
        scored: list[tuple[float, Chunk]] = []
        for number, text in enumerate(self.texts):
            held = {token.key for token in content(tokenise(text))}
            scored.append((len(asked & held) / max(1, len(asked)), chunk(text, number=number, title=f"Page {number}")))
        scored.sort(key=lambda pair: -pair[0])
        hits = tuple(
            Hit(rank, found, HitScores(dense=score, dense_rank=rank, fused=score))
            for rank, (score, found) in enumerate(scored[:limit], start=1)
        )
        return SearchResult(query, hits, SearchTimings(0.0, 0.0, 0.0, 0.0), self.warnings)
