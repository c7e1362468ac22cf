"""The document ledger."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
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
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.UniqueConstraint("collection", "source", name="uq_documents_collection_source"),
    )
    op.create_index("ix_documents_status", "documents", ["status"])
    op.create_table(
        "document_texts",
        sa.Column(
            "document_id", sa.String(36), sa.ForeignKey("documents.document_id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "document_chunks",
        sa.Column("chunk_id", sa.String(36), primary_key=True),
        sa.Column(
            "document_id", sa.String(36), sa.ForeignKey("documents.document_id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_document_chunks_document_id", "document_chunks", ["document_id", "position"])


def downgrade() -> None:
    op.drop_table("document_chunks")
    op.drop_table("document_texts")
    op.drop_table("documents")
