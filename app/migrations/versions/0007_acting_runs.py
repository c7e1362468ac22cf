"""Runs of agents: which agent, what was asked of it, and a state for runs that wait for a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_INDEX = "uq_runs_one_running_per_thread"
_ACTIVE = sa.text("state IN ('running', 'waiting')")
_RUNNING = sa.text("state = 'running'")


def upgrade() -> None:
    op.add_column("runs", sa.Column("agent", sa.String(64), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("request", sa.Text, nullable=False, server_default=""))
    op.drop_index(_INDEX, "runs")
    op.create_index(
        "uq_runs_one_active_per_thread",
        "runs",
        ["thread_id"],
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    )
    op.create_index("ix_runs_state", "runs", ["state"])


def downgrade() -> None:
    op.drop_index("ix_runs_state", "runs")
    op.drop_index("uq_runs_one_active_per_thread", "runs")
    op.create_index(_INDEX, "runs", ["thread_id"], unique=True, sqlite_where=_RUNNING, postgresql_where=_RUNNING)
    op.drop_column("runs", "request")
    op.drop_column("runs", "agent")
