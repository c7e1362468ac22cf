"""Errors of the retrieval layer.

RetrievalError
├── StoreUnavailable     infrastructure: the store cannot be opened or reached; may be retried
│   └── StoreLocked      caller: another process owns the embedded store
├── EmbeddingModelMismatch  operator: the store was built with another embedding model
├── EmbeddingFailed      infrastructure: the embedding backend failed
├── ModelFilesMissing    operator: the model's files are not on this machine
└── RerankFailed         infrastructure: a reranker gave no scores; a search goes on in the fused order
    └── RerankTimedOut   infrastructure: it took too long
"""


class RetrievalError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class StoreUnavailable(RetrievalError):
    """The vector store cannot be opened, reached, or written."""


class StoreLocked(StoreUnavailable):
    """Another process has the embedded store open."""


class EmbeddingModelMismatch(RetrievalError):
    """The store holds vectors of another embedding model than the one configured."""


class EmbeddingFailed(RetrievalError):
    """The embedding backend did not return vectors."""


class ModelFilesMissing(RetrievalError):
    """Files of a local model are missing or incomplete."""


class RerankFailed(RetrievalError):
    """A reranker gave no scores."""


class RerankTimedOut(RerankFailed):
    """A reranker did not give every score within its time limit."""
