"""Tables of what is attached to threads; columns and keys, no queries."""

from __future__ import annotations

import sqlalchemy as sa

from app.tables import METADATA

attachments = sa.Table(
    "attachments",
    METADATA,
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
    sa.Index("ix_attachments_thread_id", "thread_id", "attached_at"),
)
"""``pieces`` is JSON of the stretches that the text is cut into. A row that was removed keeps its text, so that answers
which cite it can be opened; it goes with its thread."""

attachment_pictures = sa.Table(
    "attachment_pictures",
    METADATA,
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
"""Bytes of the rows of ``attachments`` whose kind is ``picture``; there ``text`` is what was read from the picture,
``sha256`` the hash of ``data``, and ``removed_at`` the moment when a question took it."""
