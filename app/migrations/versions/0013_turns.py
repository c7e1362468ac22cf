"""Runs that take the place of an earlier one, or go on with its answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("replaces", "continues"):
        op.add_column("runs", sa.Column(name, sa.String(32), nullable=False, server_default=""))


def downgrade() -> None:
    for name in ("continues", "replaces"):
        op.drop_column("runs", name)
