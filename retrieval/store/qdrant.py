"""The server home: one collection of a Qdrant server, or of ``QdrantClient(":memory:")`` in tests."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
import numpy as np
from pydantic import ValidationError
from qdrant_client import QdrantClient, models
from qdrant_client.conversions.common_types import PointId
from qdrant_client.http.exceptions import ApiException

from retrieval.errors import StoreUnavailable
from retrieval.store.filters import conditions
from retrieval.store.identity import StoreIdentity, require_same_model
from retrieval.store.legs import Among, Scope, best_first, both_legs
from retrieval.store.payload import DENSE, INDEXED_FIELDS, SPARSE, VERSION, from_payload, to_payload
from retrieval.store.visibility import Visibility
from retrieval.types import Chunk, FloatVector, IndexedChunk, Legs, ScoredId, SearchFilter, SparseVector

# A server takes requests of up to 32 MiB. A point is its text, twice at worst through JSON escapes, and its vectors.
_UPSERT_BATCH = 256
_UPSERT_BYTES = 8 * 1024 * 1024
_SCROLL_PAGE = 1000


def open_qdrant_store(client: QdrantClient, *, collection: str, dim: int, fingerprint: str) -> QdrantStore:
    """Open a collection, or create it; the store owns the client from then on and closes it.

    Args:
        client: A connected client.
        collection: Name of the collection; its metadata records the embedding model.
        dim: Length of the dense vectors.
        fingerprint: The embedder's fingerprint; recorded at creation, compared ever after.

    Raises:
        EmbeddingModelMismatch: The collection was built with another model.
        StoreUnavailable: The server cannot be reached, or the collection is not one of ours.
    """
    wanted = StoreIdentity(fingerprint=fingerprint, dim=dim)
    with _translated(f"open the Qdrant collection {collection!r}"):
        if not client.collection_exists(collection):
            _create(client, collection, wanted)
        require_same_model(_read_identity(client, collection), wanted)
        if not _is_local(client):
            for name in INDEXED_FIELDS:
                client.create_payload_index(collection, name, models.PayloadSchemaType.KEYWORD, wait=True)
    return QdrantStore(client=client, collection=collection)


@dataclass(frozen=True, slots=True)
class QdrantStore:
    """A ``VectorStore`` over one Qdrant collection; made by ``open_qdrant_store``. Writes return once applied."""

    client: QdrantClient
    collection: str
    visibility: Visibility = field(default_factory=Visibility)

    def upsert(self, points: Sequence[IndexedChunk]) -> None:
        """Write chunks; a chunk with a known id is replaced."""
        with _translated("write to Qdrant"):
            for batch in _request_sized(points):
                self.client.upsert(self.collection, [_to_point(point) for point in batch], wait=True)

    def delete_chunks(self, chunk_ids: Sequence[str]) -> None:
        """Delete these chunks; unknown ids are ignored."""
        if chunk_ids:
            selector = models.PointIdsList(points=list(chunk_ids))
            with _translated("delete from Qdrant"):
                self.client.delete(self.collection, selector, wait=True)

    def delete_document(self, document_id: str) -> int:
        """Delete all chunks of a document and return how many are left, which is 0."""
        of_document = SearchFilter(document_ids=(document_id,))
        selector = models.FilterSelector(filter=models.Filter(must=_must(of_document)))
        with _translated("delete from Qdrant"):
            self.client.delete(self.collection, selector, wait=True)
        return self.count(of_document)

    def search_lexical(self, vector: SparseVector, *, search_filter: SearchFilter, limit: int) -> list[ScoredId]:
        """Ids of the best chunks by BM25, best first."""
        with self.visibility.reading() as hidden:
            return self._rank(_by_words(vector, Scope(search_filter, hidden, limit)))[0]

    def search_legs(self, dense: FloatVector, sparse: SparseVector, *, search_filter: SearchFilter, limit: int) -> Legs:
        """Both legs in one request, and what each says of the other's chunks in a second one."""
        with self.visibility.reading() as hidden:
            scope = Scope(search_filter, hidden, limit)

            def rank(of_dense: Among, of_lexical: Among) -> tuple[list[ScoredId], list[ScoredId]]:
                found = self._rank(_by_meaning(dense, scope, of_dense), _by_words(sparse, scope, of_lexical))
                return found[0], found[1]

            return both_legs(rank, limit=limit)

    def fetch(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Chunks by id, in the order asked for."""
        if not chunk_ids:
            return []
        with self.visibility.reading() as hidden, _translated("read from Qdrant"):
            records = self.client.retrieve(self.collection, list(chunk_ids), with_payload=True)
        found = {str(record.id): from_payload(str(record.id), record.payload or {}) for record in records}
        return [chunk for name in chunk_ids if (chunk := found.get(name)) and chunk.version not in hidden]

    def count(self, search_filter: SearchFilter) -> int:
        """Exact number of chunks that the filter lets through."""
        with _translated("count in Qdrant"):
            return self.client.count(self.collection, _to_filter(search_filter), exact=True).count

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
        return [_from_record(record) for record in self._scroll(search_filter, with_vectors=True)]

    def optimize(self) -> None:
        """Nothing: a server builds its indexes by itself."""

    def close(self) -> None:
        """Close the client."""
        with _translated("close the Qdrant client"):
            self.client.close()

    def _rank(self, *requests: models.QueryRequest | None) -> list[list[ScoredId]]:
        """What each request finds, all in one round trip; nothing where there is none."""
        asked = [request for request in requests if request]
        with _translated("search Qdrant"):
            answers = iter(self.client.query_batch_points(self.collection, asked) if asked else ())
        return [best_first(next(answers).points) if request else [] for request in requests]

    def _scroll(
        self,
        search_filter: SearchFilter,
        *,
        hidden: frozenset[str] = frozenset(),
        with_payload: bool = True,
        with_vectors: bool = False,
    ) -> Iterator[models.Record]:
        offset: PointId | None = None
        while True:
            with _translated("read from Qdrant"):
                records, offset = self.client.scroll(
                    self.collection,
                    scroll_filter=_to_filter(search_filter, hidden=hidden),
                    limit=_SCROLL_PAGE,
                    offset=offset,
                    with_payload=with_payload,
                    with_vectors=with_vectors,
                )
            yield from records
            if offset is None:
                return


def _create(client: QdrantClient, collection: str, identity: StoreIdentity) -> None:
    client.create_collection(
        collection,
        vectors_config={DENSE: models.VectorParams(size=identity.dim, distance=models.Distance.COSINE)},
        sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        metadata=identity.model_dump(),
    )


def _read_identity(client: QdrantClient, collection: str) -> StoreIdentity:
    try:
        return StoreIdentity.model_validate(client.get_collection(collection).config.metadata)
    except ValidationError as error:
        raise StoreUnavailable(
            f"the Qdrant collection {collection!r} does not say which embedding model it holds; "
            "set store.collection to another name, and use a Qdrant server of version 1.16 or newer"
        ) from error


def _is_local(client: QdrantClient) -> bool:
    """Whether the client runs no engine: the in-memory double, which has no payload indexes and warns when asked."""
    return client.init_options.get("location") == ":memory:" or client.init_options.get("path") is not None


def _request_sized(points: Sequence[IndexedChunk]) -> Iterator[list[IndexedChunk]]:
    batch: list[IndexedChunk] = []
    size_bytes = 0
    for point in points:
        point_bytes = 2 * len(point.chunk.text.encode()) + 24 * (len(point.dense) + len(point.sparse.indices))
        if batch and (len(batch) == _UPSERT_BATCH or size_bytes + point_bytes > _UPSERT_BYTES):
            yield batch
            batch, size_bytes = [], 0
        batch.append(point)
        size_bytes += point_bytes
    if batch:
        yield batch


def _to_point(point: IndexedChunk) -> models.PointStruct:
    vectors = {DENSE: point.dense.tolist(), SPARSE: _to_sparse(point.sparse)}
    return models.PointStruct(id=point.chunk.chunk_id, vector=vectors, payload=to_payload(point.chunk))


def _to_sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _from_record(record: models.Record) -> IndexedChunk:
    vectors = cast("dict[str, Any]", record.vector)  # named vectors, of two kinds
    sparse: models.SparseVector = vectors[SPARSE]
    chunk = from_payload(str(record.id), record.payload or {})
    return IndexedChunk(
        chunk, np.asarray(vectors[DENSE], dtype=np.float32), SparseVector(tuple(sparse.indices), tuple(sparse.values))
    )


def _by_meaning(vector: FloatVector, scope: Scope, among: Among = None) -> models.QueryRequest | None:
    return _request(vector.tolist(), DENSE, scope, among)


def _by_words(vector: SparseVector, scope: Scope, among: Among = None) -> models.QueryRequest | None:
    return _request(_to_sparse(vector), SPARSE, scope, among) if vector.indices else None


def _request(
    query: list[float] | models.SparseVector, using: str, scope: Scope, among: Among
) -> models.QueryRequest | None:
    if among is not None and not among:
        return None
    filter_ = _to_filter(scope.search_filter, hidden=scope.hidden, among=among)
    return models.QueryRequest(query=query, using=using, filter=filter_, limit=scope.limit, with_payload=False)


def _to_filter(
    search_filter: SearchFilter, *, hidden: frozenset[str] = frozenset(), among: Among = None
) -> models.Filter | None:
    must = _must(search_filter)
    if among is not None:
        must.append(models.HasIdCondition(has_id=list(among)))
    if hidden:
        unseen = models.FieldCondition(key=VERSION, match=models.MatchAny(any=sorted(hidden)))
        return models.Filter(must=must or None, must_not=[unseen])
    return models.Filter(must=must) if must else None


def _must(search_filter: SearchFilter) -> list[models.Condition]:
    return [
        models.FieldCondition(key=condition.field, match=models.MatchAny(any=list(condition.values)))
        for condition in conditions(search_filter)
    ]


@contextmanager
def _translated(action: str) -> Generator[None]:
    """Turn the client's errors into ours."""
    try:
        yield
    except (ApiException, httpx.HTTPError, OSError) as error:
        raise StoreUnavailable(f"cannot {action}: {error}; is the Qdrant server of store.url running?") from error
    except (RuntimeError, ValueError) as error:
        # The in-memory double raises these where a server answers with a status: closed client, missing collection.
        raise StoreUnavailable(f"cannot {action}: {error}") from error
