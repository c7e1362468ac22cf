"""Tables of the document ledger; columns and keys, no queries. The application migrates them.

Times are ISO 8601 strings in UTC and metadata is JSON text, so that SQLite and PostgreSQL store the same bytes.
"""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

documents = sa.Table(
    "documents",
    METADATA,
    sa.Column("document_id", sa.String(36), primary_key=True),
    sa.Column("collection", sa.String(200), nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("parent_id", sa.String(36)),
    sa.Column("title", sa.Text, nullable=False, server_default=""),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("reason", sa.String(32)),
    sa.Column("detail", sa.Text, nullable=False, server_default=""),
    sa.Column("chunks", sa.Integer, nullable=False, server_default="0"),
    sa.Column("pages", sa.Integer),
    sa.Column("media_type", sa.String(200), nullable=False, server_default=""),
    sa.Column("size_bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("content_sha256", sa.String(64), nullable=False, server_default=""),
    sa.Column("metadata", sa.Text, nullable=False, server_default="{}"),
    sa.Column("embedding_fingerprint", sa.Text, nullable=False, server_default=""),
    sa.Column("recipe", sa.String(100), nullable=False, server_default=""),
    sa.Column("version", sa.String(36), nullable=False, server_default=""),
    sa.Column("children", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("updated_at", sa.String(32), nullable=False),
    sa.UniqueConstraint("collection", "source", name="uq_documents_collection_source"),
    sa.Index("ix_documents_status", "status"),
    sa.Index("ix_documents_parent_id", "parent_id"),
)
"""One row a source and collection. ``recipe`` names the settings that shaped the chunks, ``version`` the chunks that
readers see; ``status`` is ``processing`` from before the first write to the store until after the last."""

document_texts = sa.Table(
    "document_texts",
    METADATA,
    sa.Column(
        "document_id", sa.String(36), sa.ForeignKey("documents.document_id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("blocks", sa.Text, nullable=False, server_default="[]"),
)
"""The stored text that all offsets count in, and its structure as JSON: what chunks can be made of again without the
file. Apart from ``documents``, so that lists stay quick."""

document_chunks = sa.Table(
    "document_chunks",
    METADATA,
    sa.Column("chunk_id", sa.String(36), primary_key=True),
    sa.Column("document_id", sa.String(36), sa.ForeignKey("documents.document_id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Index("ix_document_chunks_document_id", "document_id", "position"),
)
"""Ids of the chunks that the store must hold: what ``status`` compares with it."""

document_stages = sa.Table(
    "document_stages",
    METADATA,
    sa.Column(
        "document_id", sa.String(36), sa.ForeignKey("documents.document_id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("stage", sa.String(16), primary_key=True),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("content_sha256", sa.String(64), nullable=False, server_default=""),
    sa.Column("reason", sa.String(32)),
    sa.Column("detail", sa.Text, nullable=False, server_default=""),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("started_at", sa.String(32), nullable=False),
    sa.Column("finished_at", sa.String(32), nullable=False),
)
"""The latest attempt of each document, stage by stage."""

hidden_versions = sa.Table(
    "hidden_versions",
    METADATA,
    sa.Column("version", sa.String(36), primary_key=True),
    sa.Column("document_id", sa.String(36), nullable=False),
    sa.Column("owner", sa.Text, nullable=False, server_default=""),
    sa.Column("created_at", sa.String(32), nullable=False),
)
"""Versions of documents that the store may hold and readers must not see: not whole yet, or replaced and not yet
deleted. After a kill its rows say what is to be taken out."""

collections = sa.Table(
    "collections",
    METADATA,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("description", sa.Text, nullable=False, server_default=""),
    sa.Column("created_at", sa.String(32), nullable=False),
)
"""Collections that were created or described; others exist by the documents in them."""

indexes = sa.Table(
    "indexes",
    METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("embedding_model", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
)
"""Stores of the same documents by different embedding models: one is ``active``, others are ``building`` or
``previous``. No row: there has only ever been one."""

index_documents = sa.Table(
    "index_documents",
    METADATA,
    sa.Column("index_name", sa.String(40), primary_key=True),
    sa.Column("document_id", sa.String(36), primary_key=True),
    sa.Column("source_version", sa.String(36), nullable=False),
    sa.Column("version", sa.String(36), nullable=False),
    sa.Column("chunks", sa.Integer, nullable=False),
)
"""What an index that is not active holds: ``source_version`` is the active index's version of the same content."""

index_chunks = sa.Table(
    "index_chunks",
    METADATA,
    sa.Column("index_name", sa.String(40), primary_key=True),
    sa.Column("chunk_id", sa.String(36), primary_key=True),
    sa.Column("document_id", sa.String(36), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Index("ix_index_chunks_document", "index_name", "document_id"),
)
"""Chunk ids of an index that is not active."""
