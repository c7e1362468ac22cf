"""Parsing and embedding as tasks of a Ray cluster; the ledger and the store stay with the process that ingests.

One writer means that nothing is written twice whatever the cluster does: a task whose worker dies is started again
elsewhere, and its result is the same. Nodes need this package and its models; files are sent to them. Needs ``ray``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import LoadOptions
from ingestion.parse_worker import ParseResult, ParseTask, SpilledFile
from ingestion.reading import read_file
from ingestion.workers import ParsePool
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingFailed
from retrieval.types import FloatMatrix, FloatVector

_RETRIES = 3
"""How often a task is started again whose worker or node has died."""
_TEXTS_PER_TASK = 64
_cache: dict[str, Any] = {}
"""What a worker keeps from task to task: its parsing child, its model."""


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits of one file on a worker, see ``ingestion.settings``."""

    timeout_seconds: float
    memory_bytes: int


class RayParsePool(ParsePool):
    """A ``ParsePool`` whose children run on the nodes of a cluster."""

    def __init__(self, *, workers: int, limits: ParseLimits) -> None:
        super().__init__(workers=workers, timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes)
        self._limits = limits
        self._remote: Any = ray.remote(max_retries=_RETRIES)(_parse_on_worker)  # ray types its decorator as Any
        self._waiting = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="ray-parse")

    def submit(self, task: ParseTask) -> Future[ParseResult]:
        """Queue a task; its future always has a result, also when the cluster fails."""
        return self._waiting.submit(self._parse, task)

    def close(self) -> None:
        """Wait for what is running and end."""
        self._waiting.shutdown(wait=True, cancel_futures=True)
        super().close()

    def _parse(self, task: ParseTask) -> ParseResult:
        try:
            data = read_file(task.path, max_bytes=task.max_bytes)
            reference = self._remote.remote(data, task.name, task.options, self._limits)
            result, inside = ray.get(reference)
        except LoadFailed as error:
            return ParseResult(reason=error.reason, detail=error.detail)
        except RayError as error:
            detail = f"The cluster could not parse the file ({type(error).__name__}); see the logs of Ray."
            return ParseResult(reason="internal_error", detail=detail)
        return replace(result, children=_spill(result.children, inside, task.spill))


@dataclass(frozen=True, slots=True)
class RayEmbedder:
    """An ``Embedder`` that embeds documents on a cluster; questions and token counts stay here.

    Attributes:
        local: The same model in this process.
        make: Makes the model on a worker; sent there, so a function of a module or a ``partial`` of one.
    """

    local: Embedder
    make: Callable[[], Embedder]

    @property
    def fingerprint(self) -> str:
        """That of the model."""
        return self.local.fingerprint

    @property
    def dim(self) -> int:
        """Length of each vector."""
        return self.local.dim

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens."""
        return self.local.max_tokens

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of passages in input order; like lengths share a task."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        parts = [order[start : start + _TEXTS_PER_TASK] for start in range(0, len(order), _TEXTS_PER_TASK)]
        remote: Any = ray.remote(max_retries=_RETRIES)(_embed_on_worker)  # ray types its decorator as Any
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        try:
            found = ray.get(
                [remote.remote(self.make, self.fingerprint, [texts[row] for row in part]) for part in parts]
            )
        except RayError as error:
            raise EmbeddingFailed(f"the cluster could not embed: {error}; see the logs of Ray") from error
        for part, rows in zip(parts, found, strict=True):
            vectors[part] = rows
        return vectors

    def embed_query(self, text: str) -> FloatVector:
        """Vector of one question."""
        return self.local.embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's own tokens."""
        return self.local.count_tokens(texts)


def _parse_on_worker(
    data: bytes, name: str, options: LoadOptions, limits: ParseLimits
) -> tuple[ParseResult, list[bytes]]:
    """Parse one file under the limits, in a child of this worker; its bytes come along, for disks are not shared."""
    pool: ParsePool | None = _cache.get("pool")
    if pool is None:
        pool = _cache["pool"] = ParsePool(
            workers=1, timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes
        )
    with tempfile.TemporaryDirectory(prefix="groundwork-ray-") as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        result = pool.submit(ParseTask(path, name, len(data), options, Path(folder) / "inside")).result()
        inside = [child.path.read_bytes() if child.path else b"" for child in result.children]
    return result, inside


def _embed_on_worker(make: Callable[[], Embedder], fingerprint: str, texts: Sequence[str]) -> FloatMatrix:
    if fingerprint not in _cache:
        _cache[fingerprint] = make()
    embedder: Embedder = _cache[fingerprint]
    return embedder.embed_documents(texts)


def _spill(children: Sequence[SpilledFile], inside: Sequence[bytes], folder: Path) -> tuple[SpilledFile, ...]:
    """The files inside, written to this machine's disk."""
    if children:
        folder.mkdir(parents=True)
    spilled: list[SpilledFile] = []
    for number, (child, data) in enumerate(zip(children, inside, strict=True)):
        if child.path is None:
            spilled.append(child)
            continue
        path = folder / str(number)
        path.write_bytes(data)
        spilled.append(replace(child, path=path))
    return tuple(spilled)
