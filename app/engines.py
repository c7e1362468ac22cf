"""Opens the engine of an ingest by its name."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeAlias

from app.errors import RequestInvalid
from ingestion.engines.engine import LOCAL, Engine, EngineName
from ingestion.settings import IngestionSettings
from retrieval.embedders.protocol import Embedder

OpenEngine: TypeAlias = Callable[[EngineName], AbstractContextManager[Engine]]


def local_engine(name: EngineName) -> AbstractContextManager[Engine]:
    """The engine of this process alone."""
    return open_engine(name, IngestionSettings(), None)


@contextmanager
def open_engine(name: EngineName, settings: IngestionSettings, embedder: Embedder | None) -> Generator[Engine]:
    """The engine, open as long as the context.

    Args:
        name: Which engine.
        settings: Limits of parsing, and the address of the cluster.
        embedder: The model of this process, which the workers of a cluster load too.

    Raises:
        RequestInvalid: Ray is not installed, or its cluster cannot be reached.
    """
    if name == "local":
        yield LOCAL
        return
    try:
        import ray

        from ingestion.engines.ray import ParseLimits, RayEmbedder, RayParsePool
    except ImportError as error:
        raise RequestInvalid(
            "The engine 'ray' needs its library; install it with pip install 'groundwork[ray]'."
        ) from error
    if embedder is None:
        raise RequestInvalid("The engine 'ray' needs the embedding model of the home.")
    try:
        ray.init(address=settings.ray_address, log_to_driver=False, ignore_reinit_error=True)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RequestInvalid(
            f"The Ray cluster {settings.ray_address!r} cannot be reached; start it, and set ingestion.ray_address."
        ) from error
    cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
    limits = ParseLimits(settings.parse_timeout_seconds, settings.parse_memory_bytes)
    try:
        with RayParsePool(workers=cpus, limits=limits) as pool:
            yield Engine(pool, RayEmbedder(embedder, _maker(embedder)))
    finally:
        ray.shutdown()


def _maker(embedder: Embedder) -> Callable[[], Embedder]:
    """How a worker makes the same model: from the folder of its files, which each node has at the same place."""
    from retrieval.embedders.onnx import OnnxEmbedder, load_onnx_embedder

    if isinstance(embedder, OnnxEmbedder):
        name = embedder.fingerprint.rpartition("@")[0]
        return partial(load_onnx_embedder, embedder.folder, name=name)
    return partial(_same, embedder)


def _same(embedder: Embedder) -> Embedder:
    return embedder
