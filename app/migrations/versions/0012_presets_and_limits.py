"""Presets with their versions, what runs were asked with and by whom, and the tokens that users spend in a day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "presets",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("current_version", sa.Integer, nullable=False),
        sa.Column("last_version", sa.Integer, nullable=False),
    )
    op.create_table(
        "preset_versions",
        sa.Column("name", sa.String(64), sa.ForeignKey("presets.name", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("saved_at", sa.String(32), nullable=False),
        sa.Column("saved_by", sa.String(200), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "token_days",
        sa.Column("user", sa.String(200), primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("tokens", sa.Integer, nullable=False),
    )
    op.add_column("threads", sa.Column("preset", sa.String(64), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("preset", sa.String(64), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("preset_version", sa.Integer, nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("asked_by", sa.String(200), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("tokens", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    for name in ("tokens", "asked_by", "preset_version", "preset"):
        op.drop_column("runs", name)
    op.drop_column("threads", "preset")
    for name in ("token_days", "preset_versions", "presets"):
        op.drop_table(name)
