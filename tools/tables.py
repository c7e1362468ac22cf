"""Tables of tool calls, grants, audit trail, leases, reviews and memory. One MetaData, migrated by the application."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, DateTime, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData()

TOOL_CALLS = Table(
    "tool_calls",
    METADATA,
    Column("call_id", String(200), primary_key=True),
    Column("run_id", String(64), nullable=False, index=True),
    Column("thread_id", String(64), nullable=False, index=True),
    Column("server", String(100), nullable=False),
    Column("tool", String(200), nullable=False),
    Column("risk", String(20), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("arguments_hash", String(64), nullable=False),
    Column("original_arguments", JSON(none_as_null=True)),
    Column("motive", Text, nullable=False, default=""),
    Column("taint_source", Text, nullable=False, default=""),
    Column("policy_reason", Text, nullable=False, default=""),
    Column("retryable", Boolean, nullable=False, default=False),
    Column("state", String(20), nullable=False),
    Column("decision", String(20)),
    Column("decided_by", String(200)),
    Column("decision_reason", Text),
    Column("decided_at", DateTime(timezone=True)),
    Column("proposed_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True)),
    Column("attempt", Integer, nullable=False, default=0),
    Column("runner", String(100)),
    Column("started_at", DateTime(timezone=True)),
    Column("finished_at", DateTime(timezone=True)),
    Column("result_text", Text),
    Column("result_structured", JSON(none_as_null=True)),
    Index("tool_calls_by_state", "state", "proposed_at"),
)
"""One row per proposed call. ``call_id`` is minted by the server: a model's own ids repeat."""

GRANTS = Table(
    "tool_grants",
    METADATA,
    Column("grant_id", String(64), primary_key=True),
    Column("scope", String(20), nullable=False),
    Column("server", String(100), nullable=False),
    Column("tool", String(200), nullable=False),
    Column("thread_id", String(64), nullable=False, default=""),
    Column("arguments", JSON, nullable=False),
    Column("granted_by", String(200), nullable=False),
    Column("granted_at", DateTime(timezone=True), nullable=False),
    Column("call_id", String(200), nullable=False, default=""),
    Column("revoked_by", String(200)),
    Column("revoked_at", DateTime(timezone=True)),
)
"""Standing grants. ``call_id`` is the call on whose card it was given, empty for one given by itself."""

AUDIT = Table(
    "tool_audit",
    METADATA,
    Column("entry", Integer, primary_key=True, autoincrement=True),
    Column("call_id", String(200), nullable=False, index=True),
    Column("at", DateTime(timezone=True), nullable=False, index=True),
    Column("actor", String(200), nullable=False),
    Column("event", String(40), nullable=False),
    Column("detail", JSON, nullable=False),
)
"""Append-only: who did what to which call, when, under which policy line. ``call_id`` is empty where a grant was given
or revoked by itself."""

LEASES = Table(
    "thread_leases",
    METADATA,
    Column("thread_id", String(64), primary_key=True),
    Column("runner", String(100), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
)
"""One runner per thread: the ledger is the safety net, the lease saves doubled model calls."""

REVIEWS = Table(
    "tool_reviews",
    METADATA,
    Column("server", String(100), primary_key=True),
    Column("tool", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("definition", JSON, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("reviewed_by", String(200), nullable=False),
    Column("reviewed_at", DateTime(timezone=True), nullable=False),
)
"""The definition of a server's tool that a person looked at last, and whether they let it in."""

MEMORY_FACTS = Table(
    "memory_facts",
    METADATA,
    Column("fact_id", String(32), primary_key=True),
    Column("user", String(200), nullable=False),
    Column("text", Text, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
    Column("thread_id", String(64), nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("call_id", String(200), nullable=False),
    Index("ix_memory_facts_user", "user"),
)
"""``thread_id``, ``run_id`` and ``call_id`` name the approved call that wrote the fact; empty for a person's own."""
