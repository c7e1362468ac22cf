"""Remembered facts about users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "memory_facts",
        sa.Column("fact_id", sa.String(32), primary_key=True),
        sa.Column("user", sa.String(200), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("thread_id", sa.String(64), nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("call_id", sa.String(200), nullable=False),
    )
    op.create_index("ix_memory_facts_user", "memory_facts", ["user"])


def downgrade() -> None:
    op.drop_table("memory_facts")
