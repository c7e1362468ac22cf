"""Tables of threads, runs and run events; columns and keys, no queries.

Times are ISO 8601 strings in UTC and payloads are JSON text, so that SQLite and PostgreSQL store the same bytes.
"""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

threads = sa.Table(
    "threads",
    METADATA,
    sa.Column("thread_id", sa.String(32), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("origin", sa.String(16), nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("updated_at", sa.String(32), nullable=False),
    sa.Column("preset", sa.String(64), nullable=False, server_default=""),
    sa.Index("ix_threads_updated_at", "updated_at"),
)
"""``origin`` is ``chat``, or ``completion`` for a thread that one call of ``/v1/chat/completions`` made. ``preset`` is
taken by questions that name none."""

runs = sa.Table(
    "runs",
    METADATA,
    sa.Column("run_id", sa.String(32), primary_key=True),
    sa.Column("thread_id", sa.String(32), sa.ForeignKey("threads.thread_id", ondelete="CASCADE"), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("last_seq", sa.Integer, nullable=False),
    sa.Column("answer", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("agent", sa.String(64), nullable=False, server_default=""),
    sa.Column("request", sa.Text, nullable=False, server_default=""),
    sa.Column("preset", sa.String(64), nullable=False, server_default=""),
    sa.Column("preset_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("asked_by", sa.String(200), nullable=False, server_default=""),
    sa.Column("tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("replaces", sa.String(32), nullable=False, server_default=""),
    sa.Column("continues", sa.String(32), nullable=False, server_default=""),
    sa.Column("pictures", sa.Text, nullable=False, server_default="[]"),
    sa.Index("ix_runs_thread_id", "thread_id", "created_at"),
    sa.Index("ix_runs_state", "state"),
)
"""``owner`` names the machine and home whose API works on it: at its next start that API knows what it left behind.
``agent`` is empty for answers from documents alone; ``request`` is what a run of an agent is taken up again from.
``preset`` and ``preset_version`` name what it was asked with, ``asked_by`` who asked; ``tokens`` is what its models
read and wrote so far. ``replaces`` and ``continues`` name earlier runs of the thread;
``pictures`` is JSON of what was given of pictures beside the question."""

sa.Index(
    "uq_runs_one_active_per_thread",
    runs.c.thread_id,
    unique=True,
    sqlite_where=runs.c.state.in_(("running", "waiting")),
    postgresql_where=runs.c.state.in_(("running", "waiting")),
)

run_events = sa.Table(
    "run_events",
    METADATA,
    sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("type", sa.String(32), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)
"""Append-only: rows are inserted, and deleted with their thread, never changed."""

eval_runs = sa.Table(
    "eval_runs",
    METADATA,
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
    sa.Index("ix_eval_runs_created_at", "created_at"),
    sa.Index("ix_eval_runs_fingerprint", "fingerprint"),
)
"""``fingerprint`` digests questions, settings, models and the size of the corpus."""

eval_cases = sa.Table(
    "eval_cases",
    METADATA,
    sa.Column("eval_id", sa.String(32), sa.ForeignKey("eval_runs.eval_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("question_id", sa.String(200), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("passed", sa.Boolean, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)
"""One row a question, written when it has been measured and never changed."""

eval_questions = sa.Table(
    "eval_questions",
    METADATA,
    sa.Column("question_id", sa.String(200), primary_key=True),
    sa.Column("run_id", sa.String(32), nullable=False),
    sa.Column("created_at", sa.String(32), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Index("ix_eval_questions_created_at", "created_at"),
)
"""Questions that a person kept from a chat; ``run_id`` is the answer they come from, which may be gone."""

run_seals = sa.Table(
    "run_seals",
    METADATA,
    sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("data", sa.Text, nullable=False),
)
"""What was true when an answer was given, for its receipt: documents may have changed before anybody asks for one."""

presets = sa.Table(
    "presets",
    METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("current_version", sa.Integer, nullable=False),
    sa.Column("last_version", sa.Integer, nullable=False),
)
"""A deleted preset keeps its row with ``current_version`` 0, so that no number is given twice: runs name it."""

preset_versions = sa.Table(
    "preset_versions",
    METADATA,
    sa.Column("name", sa.String(64), sa.ForeignKey("presets.name", ondelete="CASCADE"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("saved_at", sa.String(32), nullable=False),
    sa.Column("saved_by", sa.String(200), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)
"""Rows are inserted, and deleted with their preset, never changed."""

token_days = sa.Table(
    "token_days",
    METADATA,
    sa.Column("user", sa.String(200), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("tokens", sa.Integer, nullable=False),
)
"""Tokens of the runs of a user by the day in UTC on which they were spent; stays when threads are deleted."""
