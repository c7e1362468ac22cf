"""Stages of documents, versions that are hidden, files inside files, collections, and the structure of stored texts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("version", sa.String(36), nullable=False, server_default=""))
    op.add_column("documents", sa.Column("children", sa.Integer, nullable=False, server_default="0"))
    op.add_column("documents", sa.Column("attempt", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_documents_parent_id", "documents", ["parent_id"])
    op.add_column("document_texts", sa.Column("blocks", sa.Text, nullable=False, server_default="[]"))
    op.create_table(
        "document_stages",
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
    op.create_table(
        "hidden_versions",
        sa.Column("version", sa.String(36), primary_key=True),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("owner", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.String(32), nullable=False),
    )
    op.create_table(
        "collections",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("description", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.String(32), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("collections")
    op.drop_table("hidden_versions")
    op.drop_table("document_stages")
    op.drop_column("document_texts", "blocks")
    op.drop_index("ix_documents_parent_id", "documents")
    for name in ("attempt", "children", "version"):
        op.drop_column("documents", name)
