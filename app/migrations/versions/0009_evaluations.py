"""Evaluations: their runs, the case of each question, and questions kept from chats."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "eval_runs",
        sa.Column("eval_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.String(32), nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
    )
    op.create_index("ix_eval_runs_created_at", "eval_runs", ["created_at"])
    op.create_index("ix_eval_runs_fingerprint", "eval_runs", ["fingerprint"])
    op.create_table(
        "eval_cases",
        sa.Column("eval_id", sa.String(32), sa.ForeignKey("eval_runs.eval_id", ondelete="CASCADE"), primary_key=True),
        sa.Column("question_id", sa.String(200), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "eval_questions",
        sa.Column("question_id", sa.String(200), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("created_at", sa.String(32), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_index("ix_eval_questions_created_at", "eval_questions", ["created_at"])


def downgrade() -> None:
    for name in ("eval_questions", "eval_cases", "eval_runs"):
        op.drop_table(name)
