"""Change the embedding model of a home: the second index is built beside the first, then takes its place, or goes back.

Runs without an API: the home is this process's own while it builds. A killed build goes on with the next call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.database import open_database
from app.errors import ReindexRefused
from app.home_lock import lock_home, require_space
from app.index_store import open_index_store
from app.models.store import ModelStore
from app.settings import Settings
from ingestion.index_ledger import BASE_INDEX, Index, IndexLedger
from ingestion.ledger import Ledger
from ingestion.preparing import Preparer
from ingestion.reindexing import Build, OnBuilt, build_index
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder

LoadEmbedder = Callable[[str], Embedder]
"""The embedder of a model by its name or folder; blocks."""


class ReindexReport(BaseModel):
    """The JSON shape of ``reindex --json``."""

    model_config = ConfigDict(frozen=True)

    embedding_model: str
    """What searches use from now on."""
    previous_model: str
    """What ``reindex --rollback`` goes back to."""
    documents: int
    chunks: int
    embedded: int
    """Chunks that this call embedded; the others were there."""


@dataclass(frozen=True, slots=True)
class _Parts:
    ledger: Ledger
    indexes: IndexLedger
    settings: Settings
    load: LoadEmbedder


async def reindex(
    settings: Settings, model: str, *, on_progress: OnBuilt, load: LoadEmbedder | None = None
) -> ReindexReport:
    """Build an index by another model and switch to it.

    Args:
        settings: Of the home.
        model: Name of a model in the model store, or the path of its folder.
        on_progress: Told of documents done, documents in all, chunks embedded.
        load: Makes the embedder of a model; None takes the model store.

    Raises:
        ReindexRefused: The model is the one that is used already.
        HomeLocked: An API or another command has the home open.
        ModelFilesMissing: The model is not there.
    """
    async with _opened(settings, load) as parts:
        active = await _active(parts)
        embedder = await asyncio.to_thread(parts.load, model)
        if embedder.fingerprint == active.fingerprint:
            raise ReindexRefused(f"The home is searched with {model!r} already.")
        known = await parts.indexes.all()
        index = next((index for index in known if index.fingerprint == embedder.fingerprint), None)
        if index is None:
            index = await _new_index(parts, model, embedder, taken={index.name for index in known})
        return await _build_and_switch(parts, active, index, embedder, on_progress)


async def roll_back(settings: Settings, *, on_progress: OnBuilt, load: LoadEmbedder | None = None) -> ReindexReport:
    """Go back to the index that the last ``reindex`` has kept; what has changed since is embedded first.

    Raises:
        ReindexRefused: There is none.
        HomeLocked: An API or another command has the home open.
        ModelFilesMissing: The model of that index is not there.
    """
    async with _opened(settings, load) as parts:
        active = await _active(parts)
        previous = next((index for index in await parts.indexes.all() if index.state == "previous"), None)
        if previous is None:
            raise ReindexRefused("There is no index to go back to; run 'groundwork reindex --embedding-model NAME'.")
        embedder = await asyncio.to_thread(parts.load, previous.embedding_model)
        if embedder.fingerprint != previous.fingerprint:
            raise ReindexRefused(
                f"The files of {previous.embedding_model!r} are not those that the kept index was built with; "
                "put them back, or reindex with a model of another name."
            )
        return await _build_and_switch(parts, active, previous, embedder, on_progress)


@asynccontextmanager
async def _opened(settings: Settings, load: LoadEmbedder | None) -> AsyncGenerator[_Parts]:
    async with lock_home(settings.home), open_database(settings) as engine:
        require_space(settings.home)
        yield _Parts(Ledger(engine), IndexLedger(engine), settings, load or _model_loader(settings))


async def _active(parts: _Parts) -> Index:
    """The active index, recorded when it is the first one."""
    active = await parts.indexes.active()
    if active is None:
        known = await parts.ledger.known()
        fingerprints = {document.content.fingerprint for document in known.values() if document.chunks}
        if not fingerprints:
            raise ReindexRefused("There are no documents yet; set embedding.model and ingest them.")
        fingerprint = sorted(fingerprints)[0]
        model = fingerprint.rpartition("@")[0] or parts.settings.embedding.model
        active = Index(BASE_INDEX, model, fingerprint, "active")
        await parts.indexes.add(active)
    return active


async def _new_index(parts: _Parts, model: str, embedder: Embedder, *, taken: set[str]) -> Index:
    name = next(name for number in range(2, 1000) if (name := f"index-{number}") not in taken)
    index = Index(name, model, embedder.fingerprint, "building")
    await parts.indexes.add(index)
    return index


async def _build_and_switch(
    parts: _Parts, active: Index, index: Index, embedder: Embedder, on_progress: OnBuilt
) -> ReindexReport:
    store = await asyncio.to_thread(
        open_index_store, parts.settings, index.name, dim=embedder.dim, fingerprint=embedder.fingerprint
    )
    try:
        preparer = Preparer(embedder, LexicalEncoder(), parts.settings.ingestion)
        embedded = await build_index(Build(parts.ledger, parts.indexes, preparer, store, index), on_progress)
        await parts.indexes.switch(index.name, active.name)
    finally:
        await asyncio.to_thread(store.close)
    known = await parts.ledger.known()
    return ReindexReport(
        embedding_model=index.embedding_model,
        previous_model=active.embedding_model,
        documents=sum(document.status == "ready" for document in known.values()),
        chunks=sum(document.chunks for document in known.values()),
        embedded=embedded,
    )


def _model_loader(settings: Settings) -> LoadEmbedder:
    models = ModelStore(settings.home, settings.models)

    def load(model: str) -> Embedder:
        from app.index_opening import load_embedder

        return load_embedder(settings, models, model)

    return load
