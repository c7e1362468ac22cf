"""How fast an ingest is beside a plain sentence-transformers loop over the same chunks, and how much memory it takes.

Both run in turns in one call, each in a process of its own, so that what else the machine does meets both. The plain
loop embeds and nothing else; the ingest reads, parses, splits, embeds, writes, counts. Run as
``python -m evals.ingest_bench``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.ingest_home import COLLECTION, load_embedder, open_ingest_home
from ingestion.sources import discover
from retrieval.types import SearchFilter, index_text

_PLAIN_BATCH = 32
"""The default of ``SentenceTransformer.encode``."""
_MEMORY_SECONDS = 0.05


class Measured(BaseModel):
    """One process's figures."""

    model_config = ConfigDict(frozen=True)

    chunks: int
    seconds: float
    cpu_seconds: float
    """Processor time of the process and of those that parse; says more than the clock where others work too."""
    peak_bytes: int
    """Most memory of the process's own (``RssAnon``): mapped pages of the store, which the system takes back when it
    needs them, do not count, and the processes that parse have limits of their own."""


class BenchReport(BaseModel):
    """The figures of one call."""

    model_config = ConfigDict(frozen=True)

    files: int
    chunks: int
    ingest_chunks_per_second: float
    plain_chunks_per_second: float
    times_plain: float
    """Median over the pairs."""
    pairs: list[float]
    ingest_cpu_ms_per_chunk: float
    plain_cpu_ms_per_chunk: float
    times_plain_by_cpu: float
    """Median over the pairs, of processor time in place of the clock."""


class MemoryReport(BaseModel):
    """Peak memory over the size of a corpus."""

    model_config = ConfigDict(frozen=True)

    chunks: list[int]
    peak_bytes: list[int]
    growth: float
    """Peak of the largest over that of the smallest."""


def bench(corpus: Path, model_folder: Path, *, files: int, pairs: int, work: Path) -> BenchReport:
    """Ingest the first files of a corpus and embed the same chunks by a plain loop, in turns."""
    docs = _copy(corpus, work / "docs", files=files, copies=1)
    texts = work / "texts.json"
    ratios: list[float] = []
    ours: list[Measured] = []
    plain: list[Measured] = []
    for number in range(pairs):
        ours.append(_child("ingest", docs, model_folder, work / f"home-{number}", texts))
        plain.append(_child("plain", docs, model_folder, work, texts))
        ratios.append(_rate(ours[-1]) / _rate(plain[-1]))
    return BenchReport(
        files=files,
        chunks=ours[0].chunks,
        ingest_chunks_per_second=statistics.median(map(_rate, ours)),
        plain_chunks_per_second=statistics.median(map(_rate, plain)),
        times_plain=statistics.median(ratios),
        pairs=ratios,
        ingest_cpu_ms_per_chunk=statistics.median(map(_cpu_ms, ours)),
        plain_cpu_ms_per_chunk=statistics.median(map(_cpu_ms, plain)),
        times_plain_by_cpu=statistics.median(_cpu_ms(b) / _cpu_ms(a) for a, b in zip(ours, plain, strict=True)),
    )


def measure_memory(
    corpus: Path, model_folder: Path | None, *, files: int, copies: tuple[int, ...], work: Path
) -> MemoryReport:
    """Peak memory of ingests of the first files of a corpus, taken once and several times."""
    found: list[Measured] = []
    for count in copies:
        docs = _copy(corpus, work / f"docs-{count}", files=files, copies=count)
        found.append(_child("ingest", docs, model_folder, work / f"home-{count}", work / "texts.json"))
    peaks = [measured.peak_bytes for measured in found]
    return MemoryReport(
        chunks=[measured.chunks for measured in found], peak_bytes=peaks, growth=max(peaks) / min(peaks)
    )


def _copy(corpus: Path, target: Path, *, files: int, copies: int) -> Path:
    """The first files, several times; each copy differs by a line, so that none is known already."""
    chosen = sorted(path for path in corpus.rglob("*.md") if path.is_file())[:files]
    for copy in range(copies):
        for number, path in enumerate(chosen):
            place = target / str(copy) / f"{number:05}-{path.name}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
            with place.open("a", encoding="utf-8") as file:
                file.write(f"\n\nCopy {copy}.\n")
    return target


def _rate(measured: Measured) -> float:
    return measured.chunks / measured.seconds


def _cpu_ms(measured: Measured) -> float:
    return 1000 * measured.cpu_seconds / measured.chunks


def _cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class _PeakMemory:
    """Looks at this process's own memory twenty times a second."""

    def __init__(self) -> None:
        self.bytes = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_MEMORY_SECONDS):
            lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
            kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
            self.bytes = max(self.bytes, kilobytes * 1024)


def _child(task: str, docs: Path, model_folder: Path | None, home: Path, texts: Path) -> Measured:
    command = [sys.executable, "-m", "evals.ingest_bench", "--child", task, "--corpus", str(docs)]
    command += ["--home", str(home), "--texts", str(texts)]
    command += ["--model", str(model_folder)] if model_folder else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1], text=True)
    return Measured.model_validate_json(done.stdout)


async def _ingest(docs: Path, model_folder: Path | None, home: Path, texts: Path) -> Measured:
    async with open_ingest_home(home, load_embedder(model_folder)) as opened:
        found = await asyncio.to_thread(discover, [str(docs)])
        started, used = time.perf_counter(), _cpu_seconds()
        with _PeakMemory() as peak:
            report = await opened.ingester.ingest(found, collection=COLLECTION)
        seconds, used = time.perf_counter() - started, _cpu_seconds() - used
        chunks = sum(file.chunks for file in report.files)
        if not texts.exists():
            stored = await asyncio.to_thread(opened.store.chunks, SearchFilter())
            content = json.dumps([index_text(chunk) for chunk in stored])
            await asyncio.to_thread(texts.write_text, content, encoding="utf-8")
        return Measured(chunks=chunks, seconds=seconds, cpu_seconds=used, peak_bytes=peak.bytes)


def _plain(model_folder: Path, texts: Path) -> Measured:
    from sentence_transformers import SentenceTransformer

    chunks: list[str] = json.loads(texts.read_text(encoding="utf-8"))
    model = SentenceTransformer(str(model_folder), device="cpu")
    started, used = time.perf_counter(), _cpu_seconds()
    with _PeakMemory() as peak:
        for start in range(0, len(chunks), _PLAIN_BATCH):
            model.encode(chunks[start : start + _PLAIN_BATCH], batch_size=_PLAIN_BATCH, show_progress_bar=False)
    seconds, used = time.perf_counter() - started, _cpu_seconds() - used
    return Measured(chunks=len(chunks), seconds=seconds, cpu_seconds=used, peak_bytes=peak.bytes)


def main() -> int:
    """Command line of the measurement."""
    parser = argparse.ArgumentParser(prog="python -m evals.ingest_bench", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="Folder of Markdown files.")
    parser.add_argument("--model", type=Path, help="Folder of the embedding model; none measures memory alone.")
    parser.add_argument("--files", type=int, default=100, help="Number of files that are taken.")
    parser.add_argument("--pairs", type=int, default=3, help="How often both are measured.")
    parser.add_argument("--memory", action="store_true", help="Measure memory for 1 and 10 copies instead of speed.")
    parser.add_argument("--child", choices=("ingest", "plain"), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="groundwork-bench-") as work:
        if given.child == "ingest":
            report: BaseModel = asyncio.run(_ingest(given.corpus, given.model, given.home, given.texts))
        elif given.child == "plain":
            report = _plain(given.model, given.texts)
        elif given.memory or given.model is None:
            report = measure_memory(given.corpus, given.model, files=given.files, copies=(1, 10), work=Path(work))
        else:
            report = bench(given.corpus, given.model, files=given.files, pairs=given.pairs, work=Path(work))
    sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
