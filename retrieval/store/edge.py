"""The embedded home: one Qdrant Edge shard in a folder, owned by one process. Knows no server."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import qdrant_edge as edge

from retrieval.errors import StoreLocked, StoreUnavailable
from retrieval.store.filters import conditions
from retrieval.store.identity import StoreIdentity, require_same_model
from retrieval.store.legs import Among, Scope, best_first, both_legs
from retrieval.store.payload import DENSE, INDEXED_FIELDS, SPARSE, VERSION, from_payload, to_payload
from retrieval.store.visibility import Visibility
from retrieval.types import Chunk, FloatVector, IndexedChunk, Legs, ScoredId, SearchFilter, SparseVector

_IDENTITY_FILE = "store.json"
_SHARD_FOLDER = "shard"
_UNFINISHED_SHARD_FOLDER = "shard.unfinished"
_UPSERT_BATCH = 500
_SCROLL_PAGE = 1000
# A second owner shows only in the text of the write-ahead log's lock error.
_LOCKED_MARK = "WouldBlock"


def open_edge_store(path: Path, *, dim: int, fingerprint: str) -> EdgeStore:
    """Open the store under ``path``, or create it there.

    Args:
        path: Folder of the store; holds ``store.json`` and the shard.
        dim: Length of the dense vectors.
        fingerprint: The embedder's fingerprint; recorded at creation, compared ever after.

    Raises:
        StoreLocked: Another store object, here or in another process, has the folder open.
        EmbeddingModelMismatch: The store was built with another model.
        StoreUnavailable: The folder cannot be written, or what it holds cannot be read.
    """
    wanted = StoreIdentity(fingerprint=fingerprint, dim=dim)
    shard_path = path / _SHARD_FOLDER
    with _translated(f"open the store in {str(path)!r}"):
        if not shard_path.exists():
            _create(path, wanted)
        require_same_model(_read_identity(path), wanted)
        shard = edge.EdgeShard.load(str(shard_path))
        # Free where it is there already; stores of earlier versions lack it.
        shard.update(edge.UpdateOperation.create_field_index(VERSION, edge.PayloadSchemaType.Keyword))
        return EdgeStore(shard=shard)


@dataclass(frozen=True, slots=True)
class EdgeStore:
    """A ``VectorStore`` over one Edge shard; made by ``open_edge_store``.

    The engine logs every write ahead, so an acknowledged one survives a killed process without a flush.
    """

    shard: edge.EdgeShard
    visibility: Visibility = field(default_factory=Visibility)

    def upsert(self, points: Sequence[IndexedChunk]) -> None:
        """Write chunks; a chunk with a known id is replaced."""
        with _translated("write to the store"):
            for start in range(0, len(points), _UPSERT_BATCH):
                batch = [_to_point(point) for point in points[start : start + _UPSERT_BATCH]]
                self.shard.update(edge.UpdateOperation.upsert_points(batch))

    def delete_chunks(self, chunk_ids: Sequence[str]) -> None:
        """Delete these chunks; unknown ids are ignored."""
        if chunk_ids:
            with _translated("delete from the store"):
                self.shard.update(edge.UpdateOperation.delete_points(list(chunk_ids)))

    def delete_document(self, document_id: str) -> int:
        """Delete all chunks of a document and return how many are left, which is 0."""
        of_document = SearchFilter(document_ids=(document_id,))
        filter_ = _to_filter(of_document)
        if filter_ is not None:
            with _translated("delete from the store"):
                self.shard.update(edge.UpdateOperation.delete_points_by_filter(filter_))
        return self.count(of_document)

    def search_lexical(self, vector: SparseVector, *, search_filter: SearchFilter, limit: int) -> list[ScoredId]:
        """Ids of the best chunks by BM25, best first."""
        with self.visibility.reading() as hidden, _translated("search the store"):
            return self._rank(_by_words(vector), Scope(search_filter, hidden, limit))

    def search_legs(self, dense: FloatVector, sparse: SparseVector, *, search_filter: SearchFilter, limit: int) -> Legs:
        """Both legs, one after the other, and what each says of the other's chunks."""
        by_meaning, by_words = _by_meaning(dense), _by_words(sparse)

        def rank(of_dense: Among, of_lexical: Among) -> tuple[list[ScoredId], list[ScoredId]]:
            return self._rank(by_meaning, scope, of_dense), self._rank(by_words, scope, of_lexical)

        with self.visibility.reading() as hidden, _translated("search the store"):
            scope = Scope(search_filter, hidden, limit)
            return both_legs(rank, limit=limit)

    def fetch(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Chunks by id, in the order asked for."""
        if not chunk_ids:
            return []
        with self.visibility.reading() as hidden, _translated("read the store"):
            records = self.shard.retrieve(list(chunk_ids), with_payload=True, with_vector=False)
        found = {str(record.id): from_payload(str(record.id), record.payload or {}) for record in records}
        return [chunk for name in chunk_ids if (chunk := found.get(name)) and chunk.version not in hidden]

    def count(self, search_filter: SearchFilter) -> int:
        """Exact number of chunks that the filter lets through."""
        with _translated("count in the store"):
            return self.shard.count(edge.CountRequest(exact=True, filter=_to_filter(search_filter)))

    def chunk_ids(self, search_filter: SearchFilter) -> set[str]:
        """Ids of all chunks that the filter lets through."""
        return {str(record.id) for record in self._scroll(search_filter, with_payload=False)}

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        """Chunks that the filter lets through, ordered by document and position."""
        with self.visibility.reading() as hidden:
            records = list(self._scroll(search_filter, hidden=hidden))
        found = [from_payload(str(record.id), record.payload or {}) for record in records]
        return sorted(found, key=lambda chunk: (chunk.document_id, chunk.position, chunk.chunk_id))

    def points(self, search_filter: SearchFilter) -> list[IndexedChunk]:
        """Chunks with their vectors, hidden versions too."""
        return [_from_record(record) for record in self._scroll(search_filter, with_vector=True)]

    def optimize(self) -> None:
        """Build vector indexes and merge segments; minutes for hundreds of thousands of chunks."""
        with _translated("optimize the store"):
            self.shard.optimize()

    def close(self) -> None:
        """Flush and release the folder for another owner; closing again does nothing."""
        with _translated("close the store"):
            self.shard.close()

    def _rank(self, query: edge.Query | None, scope: Scope, among: Among = None) -> list[ScoredId]:
        if query is None or (among is not None and not among):
            return []
        filter_ = _to_filter(scope.search_filter, hidden=scope.hidden, among=among)
        points = self.shard.query(edge.QueryRequest(scope.limit, query=query, filter=filter_))
        return best_first(points)

    def _scroll(
        self,
        search_filter: SearchFilter,
        *,
        hidden: frozenset[str] = frozenset(),
        with_payload: bool = True,
        with_vector: bool = False,
    ) -> Iterator[edge.Record]:
        offset: edge.PointId | None = None
        filter_ = _to_filter(search_filter, hidden=hidden)
        while True:
            with _translated("read the store"):
                request = edge.ScrollRequest(
                    offset, _SCROLL_PAGE, filter=filter_, with_payload=with_payload, with_vector=with_vector
                )
                records, offset = self.shard.scroll(request)
            yield from records
            if offset is None:
                return


def _by_meaning(vector: FloatVector) -> edge.Query:
    return edge.Query.Nearest(vector.tolist(), using=DENSE)


def _by_words(vector: SparseVector) -> edge.Query | None:
    if not vector.indices:
        return None
    return edge.Query.Nearest(edge.SparseVector(list(vector.indices), list(vector.values)), using=SPARSE)


def _create(path: Path, identity: StoreIdentity) -> None:
    """Make an empty shard. It appears under its name in one step, so a killed creation leaves nothing half made."""
    path.mkdir(parents=True, exist_ok=True)
    unfinished = path / _UNFINISHED_SHARD_FOLDER
    shutil.rmtree(unfinished, ignore_errors=True)
    config = edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=identity.dim, distance=edge.Distance.Cosine)},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    shard = edge.EdgeShard.create(str(unfinished), config)
    for name in INDEXED_FIELDS:
        shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))
    shard.close()
    (path / _IDENTITY_FILE).write_text(identity.model_dump_json(), encoding="utf-8")
    unfinished.rename(path / _SHARD_FOLDER)


def _read_identity(path: Path) -> StoreIdentity:
    try:
        return StoreIdentity.model_validate_json((path / _IDENTITY_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreUnavailable(
            f"{str(path / _IDENTITY_FILE)!r} cannot be read, so the model of the store is unknown; "
            "restore the file from a backup, or move the folder away and index again"
        ) from error


def _to_point(point: IndexedChunk) -> edge.Point:
    vectors: dict[str, edge.NamedVector] = {
        DENSE: point.dense.tolist(),
        SPARSE: edge.SparseVector(list(point.sparse.indices), list(point.sparse.values)),
    }
    return edge.Point(point.chunk.chunk_id, vectors, to_payload(point.chunk))


def _from_record(record: edge.Record) -> IndexedChunk:
    vectors = cast("dict[str, Any]", record.vector)  # the stubs leave out named vectors
    sparse = vectors[SPARSE]
    chunk = from_payload(str(record.id), record.payload or {})
    return IndexedChunk(
        chunk, np.asarray(vectors[DENSE], dtype=np.float32), SparseVector(tuple(sparse.indices), tuple(sparse.values))
    )


def _to_filter(
    search_filter: SearchFilter, *, hidden: frozenset[str] = frozenset(), among: Among = None
) -> edge.Filter | None:
    must: list[edge.ConditionType] = [
        edge.FieldCondition(condition.field, match=edge.MatchAny(list(condition.values)))
        for condition in conditions(search_filter)
    ]
    if among is not None:
        must.append(edge.HasIdCondition(set(among)))
    if hidden:
        unseen = edge.FieldCondition(VERSION, match=edge.MatchAny(sorted(hidden)))
        return edge.Filter(must=must or None, must_not=[unseen])
    return edge.Filter(must=must) if must else None


@contextmanager
def _translated(action: str) -> Generator[None]:
    """Turn the engine's errors into ours."""
    try:
        yield
    except StoreUnavailable:
        raise
    except OSError as error:
        raise StoreUnavailable(f"cannot {action}: {error}") from error
    except BaseException as error:
        if not _is_the_engines(error):
            raise
        if _LOCKED_MARK in str(error):
            raise StoreLocked(
                f"cannot {action}: another process has it open; end that process, or send the command to its API"
            ) from error
        raise StoreUnavailable(f"cannot {action}: {error}") from error


def _is_the_engines(error: BaseException) -> bool:
    """The engine raises plain ``Exception``, or a panic that is no ``Exception`` at all; the rest is not its own."""
    return type(error) is Exception or type(error).__name__ == "PanicException"
