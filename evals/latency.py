"""How fast one hybrid search is over a large store, and beside the local mode of Qdrant's client on the same chunks.

Both sides run the same search over the same chunks (``evals.made_up_chunks``), in turns; questions are embedded. On a
machine with other work, the best of several rounds says most, and processor time is given beside the clock. Stores take
minutes to fill; ``--keep`` leaves them for the next measurement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from evals.ingest_home import load_embedder
from evals.made_up_chunks import fill, questions
from evals.reports.plots import SizeLatency, growth_svg
from evals.retrieval import EvaluationProgress, Latency
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.types import SearchFilter

_ONE_COLLECTION = SearchFilter(collections=("collection-0",))
_WARM_UP = 3


class SearchLatency(BaseModel):
    """Milliseconds per search, embedding of the question included, of the round with the lowest median."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunks: int
    queries: int
    """Searches in one round."""
    rounds: int
    optimized: bool
    """Whether the store built its vector indexes first."""
    unfiltered: Latency
    filtered: Latency
    """The same questions over one of ten collections."""
    processor_ms: float
    """Processor time of one unfiltered search, all threads together."""
    local: Latency | None = None
    """The same unfiltered searches over ``QdrantClient(path=...)``; None where it was not compared."""

    @property
    def ratio(self) -> float | None:
        """How many times longer the local mode takes, by medians."""
        return self.local.p50 / self.unfiltered.p50 if self.local else None


@dataclass(frozen=True, slots=True)
class LatencyPlan:
    """What is measured.

    Attributes:
        chunks: Size of the store.
        queries: Searches in one round.
        rounds: How often everything is measured, in turns.
        optimize: Build the store's vector indexes first, as an ingest of that size does in the background.
        local_queries: Searches in one round over ``QdrantClient(path=...)``, which needs minutes of its own to fill; 0
            leaves it out.
    """

    chunks: int = 100_000
    queries: int = 200
    rounds: int = 1
    optimize: bool = False
    local_queries: int = 0


class LatencyReport(BaseModel):
    """Sizes in the order in which they were asked for."""

    model_config = ConfigDict(frozen=True)

    sizes: tuple[SearchLatency, ...]


def measure_search_latency(
    plan: LatencyPlan,
    *,
    embedder: Embedder,
    settings: SearchSettings,
    keep: Path | None = None,
    on_progress: Callable[[EvaluationProgress], None] = lambda _: None,
) -> SearchLatency:
    """Fill a store of its own and search it; minutes, most of them for filling.

    Args:
        plan: What is measured.
        embedder: Embeds the questions; the chunks have random vectors of its length.
        settings: How both legs are combined.
        keep: Folder in which stores are left, and found again whole; None takes them away.
        on_progress: Called while the store is filled.
    """
    lexical = LexicalEncoder()
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="groundwork-latency-")))
        store = open_edge_store(folder / f"edge-{plan.chunks}", dim=embedder.dim, fingerprint=embedder.fingerprint)
        stack.callback(store.close)
        stores: list[VectorStore] = [store]
        if plan.local_queries:
            stores.append(_local_store(folder / f"local-{plan.chunks}", embedder))
            stack.callback(stores[1].close)
        lacking = [one for one in stores if one.count(SearchFilter()) != plan.chunks]
        if lacking:
            fill(lacking, dim=embedder.dim, lexical=lexical, chunks=plan.chunks, on_progress=on_progress)
        if plan.optimize:
            store.optimize()
        return _measured(
            plan,
            [Retriever(embedder=embedder, store=one, lexical=lexical, settings=settings) for one in stores],
        )


def _measured(plan: LatencyPlan, retrievers: Sequence[Retriever]) -> SearchLatency:
    """Figures of the first retriever, and of the others as the local mode; all take turns."""
    ours, *others = retrievers
    asked = questions(plan.queries)
    unfiltered: list[Latency] = []
    filtered: list[Latency] = []
    local: list[Latency] = []
    processor: list[float] = []
    for _ in range(plan.rounds):
        latency, processor_ms = _timed(ours, asked, SearchFilter())
        unfiltered.append(latency)
        processor.append(processor_ms)
        filtered.append(_timed(ours, asked, _ONE_COLLECTION)[0])
        local += [_timed(other, asked[: plan.local_queries], SearchFilter())[0] for other in others]
    return SearchLatency(
        chunks=plan.chunks,
        queries=plan.queries,
        rounds=plan.rounds,
        optimized=plan.optimize,
        unfiltered=_best(unfiltered),
        filtered=_best(filtered),
        processor_ms=min(processor),
        local=_best(local) if local else None,
    )


def _timed(retriever: Retriever, asked: Sequence[str], search_filter: SearchFilter) -> tuple[Latency, float]:
    """Percentiles of a round, and processor milliseconds of one search."""
    for question in asked[:_WARM_UP]:
        retriever.search(question, search_filter=search_filter)
    before = time.process_time()
    timings = [retriever.search(question, search_filter=search_filter).timings.total for question in asked]
    processor_ms = 1000 * (time.process_time() - before) / len(asked)
    return Latency(p50=float(np.percentile(timings, 50)), p95=float(np.percentile(timings, 95))), processor_ms


def _best(rounds: Sequence[Latency]) -> Latency:
    return min(rounds, key=lambda latency: latency.p50)


def _local_store(folder: Path, embedder: Embedder) -> VectorStore:
    """The client library's local mode, behind the adapter of the server."""
    from qdrant_client import QdrantClient

    from retrieval.store.qdrant import open_qdrant_store

    # It warns that it has no payload indexes and is not meant for stores of this size.
    warnings.filterwarnings("ignore", category=UserWarning, module="qdrant_client")
    warnings.filterwarnings("ignore", message="Payload indexes have no effect|Local mode is not recommended")
    client = QdrantClient(path=str(folder))
    return open_qdrant_store(client, collection="chunks", dim=embedder.dim, fingerprint=embedder.fingerprint)


def main() -> int:
    """Command line of the measurement."""
    parser = argparse.ArgumentParser(prog="python -m evals.latency", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="Folder of the embedding model.")
    parser.add_argument("--chunks", type=int, nargs="+", default=[100_000], help="Sizes, one after the other.")
    parser.add_argument("--queries", type=int, default=200, help="Searches in one round.")
    parser.add_argument("--rounds", type=int, default=3, help="How often each size is measured; the best one counts.")
    parser.add_argument("--optimize", action="store_true", help="Build the vector indexes first.")
    parser.add_argument(
        "--local", type=int, default=0, metavar="N", help="Also N searches over QdrantClient(path=...)."
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Leave the stores there, and use those that are.")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="Draw the growth over the sizes as SVG.")
    given = parser.parse_args()
    embedder = load_embedder(given.model)
    plans = [LatencyPlan(size, given.queries, given.rounds, given.optimize, given.local) for size in given.chunks]
    sizes = [
        measure_search_latency(plan, embedder=embedder, settings=SearchSettings(), keep=given.keep) for plan in plans
    ]
    sys.stdout.write(LatencyReport(sizes=tuple(sizes)).model_dump_json(indent=2) + "\n")
    if given.plot:
        given.plot.write_text(
            growth_svg([SizeLatency(size.chunks, size.unfiltered.p50, size.unfiltered.p95) for size in sizes]),
            encoding="utf-8",
        )
    for size in sizes:
        if size.ratio is not None:
            sys.stderr.write(f"{size.chunks} chunks: the local mode takes {size.ratio:.0f} times as long.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
