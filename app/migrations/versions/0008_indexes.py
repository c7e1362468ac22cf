"""Indexes beside the one that is searched: the same documents embedded by another model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "indexes",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("embedding_model", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
    )
    op.create_table(
        "index_documents",
        sa.Column("index_name", sa.String(40), primary_key=True),
        sa.Column("document_id", sa.String(36), primary_key=True),
        sa.Column("source_version", sa.String(36), nullable=False),
        sa.Column("version", sa.String(36), nullable=False),
        sa.Column("chunks", sa.Integer, nullable=False),
    )
    op.create_table(
        "index_chunks",
        sa.Column("index_name", sa.String(40), primary_key=True),
        sa.Column("chunk_id", sa.String(36), primary_key=True),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("ix_index_chunks_document", "index_chunks", ["index_name", "document_id"])


def downgrade() -> None:
    for name in ("index_chunks", "index_documents", "indexes"):
        op.drop_table(name)
