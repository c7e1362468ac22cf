"""Texts that are attached to one thread: resources of MCP servers, files, documents as they were then."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attachments",
        sa.Column("attachment_id", sa.String(32), primary_key=True),
        sa.Column("thread_id", sa.String(32), sa.ForeignKey("threads.thread_id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("server", sa.Text, nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("characters", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("pieces", sa.Text, nullable=False),
        sa.Column("attached_at", sa.String(32), nullable=False),
        sa.Column("removed_at", sa.String(32)),
    )
    op.create_index("ix_attachments_thread_id", "attachments", ["thread_id", "attached_at"])


def downgrade() -> None:
    op.drop_table("attachments")
