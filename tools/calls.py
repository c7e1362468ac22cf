"""Rows of the execution ledger as values, and the closed sets of their states and decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tools.types import Risk

CallState: TypeAlias = Literal["pending", "started", "done", "failed", "rejected", "expired", "unknown"]
"""``pending -> started -> done | failed``, ``pending -> rejected | expired``, ``started -> unknown``: its runner died
between start and result, and a person says what happened."""

DecisionKind: TypeAlias = Literal["approve", "edit", "reject", "respond"]
"""``respond`` answers in the tool's place: the tool does not run and its result is the person's text."""

Settlement: TypeAlias = Literal["happened", "did_not_happen", "try_again"]

FINAL_STATES: frozenset[CallState] = frozenset({"done", "failed", "rejected", "expired"})


class ToolCall(BaseModel):
    """One call and everything an approval card, the audit and the runner need to know of it."""

    model_config = ConfigDict(frozen=True)

    call_id: str
    run_id: str
    thread_id: str
    server: str
    tool: str
    risk: Risk
    fingerprint: str
    arguments: dict[str, JsonValue]
    """What runs: the model's arguments, or a person's edit of them."""
    arguments_hash: str
    original_arguments: dict[str, JsonValue] | None = None
    """The model's arguments when a person edited them."""
    motive: str = ""
    """Message or passage that led to the call."""
    taint_source: str = ""
    """Where untrusted text in the thread came from; empty when there is none."""
    policy_reason: str = ""
    retryable: bool = False
    """A trusted server says the tool is idempotent or a read: an unknown outcome may be tried again unasked."""
    state: CallState
    decision: DecisionKind | None = None
    decided_by: str | None = None
    decision_reason: str | None = None
    decided_at: datetime | None = None
    proposed_at: datetime
    expires_at: datetime | None = None
    attempt: int = 0
    runner: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result_text: str | None = None
    result_structured: dict[str, JsonValue] | None = None

    @property
    def final(self) -> bool:
        """Whether nothing can become of the call any more."""
        return self.state in FINAL_STATES

    @property
    def waiting(self) -> bool:
        """Whether a person has to decide or settle it."""
        return self.state == "unknown" or (self.state == "pending" and self.decision is None)


class AuditEntry(BaseModel):
    """One line of the audit trail."""

    model_config = ConfigDict(frozen=True)

    entry: int
    call_id: str
    at: datetime
    actor: str
    event: str
    detail: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


def call_from_row(row: Mapping[str, Any]) -> ToolCall:
    """A ledger row as a value."""
    return ToolCall.model_validate(with_zones(row))


def entry_from_row(row: Mapping[str, Any]) -> AuditEntry:
    """A row of the audit trail as a value."""
    return AuditEntry.model_validate(with_zones(row))


def storable_text(text: str) -> str:
    """The text without what a database refuses: NUL and halves of surrogate pairs become U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def storable_json(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The object with NaN and infinities as their names: not every database takes them as numbers."""
    return json.loads(json.dumps(dict(value)), parse_constant=str)


def with_zones(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its times in UTC; SQLite hands them back without a zone."""
    return {key: _with_zone(value) for key, value in row.items()}


def _with_zone(value: object) -> object:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
