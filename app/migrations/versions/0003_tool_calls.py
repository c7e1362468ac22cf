"""The execution ledger: tool calls, grants, audit trail, leases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tool_calls",
        sa.Column("call_id", sa.String(200), primary_key=True),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("thread_id", sa.String(64), nullable=False),
        sa.Column("server", sa.String(100), nullable=False),
        sa.Column("tool", sa.String(200), nullable=False),
        sa.Column("risk", sa.String(20), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("arguments_hash", sa.String(64), nullable=False),
        sa.Column("original_arguments", sa.JSON),
        sa.Column("motive", sa.Text, nullable=False),
        sa.Column("taint_source", sa.Text, nullable=False),
        sa.Column("policy_reason", sa.Text, nullable=False),
        sa.Column("retryable", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("decision", sa.String(20)),
        sa.Column("decided_by", sa.String(200)),
        sa.Column("decision_reason", sa.Text),
        sa.Column("decided_at", sa.DateTime(timezone=True)),
        sa.Column("proposed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("runner", sa.String(100)),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("result_text", sa.Text),
        sa.Column("result_structured", sa.JSON),
    )
    op.create_index("ix_tool_calls_run_id", "tool_calls", ["run_id"])
    op.create_index("ix_tool_calls_thread_id", "tool_calls", ["thread_id"])
    op.create_index("tool_calls_by_state", "tool_calls", ["state", "proposed_at"])
    op.create_table(
        "tool_grants",
        sa.Column("grant_id", sa.String(64), primary_key=True),
        sa.Column("scope", sa.String(20), nullable=False),
        sa.Column("server", sa.String(100), nullable=False),
        sa.Column("tool", sa.String(200), nullable=False),
        sa.Column("thread_id", sa.String(64), nullable=False),
        sa.Column("arguments", sa.JSON, nullable=False),
        sa.Column("granted_by", sa.String(200), nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("call_id", sa.String(200), nullable=False),
        sa.Column("revoked_by", sa.String(200)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
    )
    op.create_table(
        "tool_audit",
        sa.Column("entry", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("call_id", sa.String(200), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_index("ix_tool_audit_call_id", "tool_audit", ["call_id"])
    op.create_index("ix_tool_audit_at", "tool_audit", ["at"])
    op.create_table(
        "thread_leases",
        sa.Column("thread_id", sa.String(64), primary_key=True),
        sa.Column("runner", sa.String(100), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("thread_leases")
    op.drop_table("tool_audit")
    op.drop_table("tool_grants")
    op.drop_table("tool_calls")
