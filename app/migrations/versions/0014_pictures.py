"""Pictures that are attached to threads, and what a run was given of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attachment_pictures",
        sa.Column(
            "attachment_id",
            sa.String(32),
            sa.ForeignKey("attachments.attachment_id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
    )
    op.add_column("runs", sa.Column("pictures", sa.Text, nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("runs", "pictures")
    op.drop_table("attachment_pictures")
