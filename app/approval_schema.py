"""Bodies of the API for approvals and grants: pydantic alone, also imported by the UI and the command line.

An approval is a tool call as a person meets it: the ledger's row, with why it is risky and what may be decided.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from tools.calls import CallState, DecisionKind, Settlement
from tools.policy import GrantScope
from tools.types import Risk

Hash: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Reason: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)]
Patterns: TypeAlias = dict[str, Annotated[str, StringConstraints(min_length=1, max_length=500)]]
"""Shell globs over arguments by name."""
GrantChoice: TypeAlias = Literal["none", "chat", "arguments"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Approval(BaseModel):
    """One tool call, drawn from what is stored: what would run, why it is asked for, what was decided."""

    call_id: str
    run_id: str
    thread_id: str
    server: str
    tool: str
    risk: Risk
    risk_reason: str
    """Why a call of that class is asked for, one sentence."""
    arguments: dict[str, JsonValue]
    """What runs, or ran."""
    arguments_hash: str
    """To be sent back as ``seen_hash``: a decision holds for these arguments alone."""
    original_arguments: dict[str, JsonValue] | None
    """The model's arguments when a person edited them."""
    motive: str
    """Message or passage that led to the call."""
    taint_source: str
    """Where untrusted text in the thread came from; empty when there is none."""
    policy_reason: str
    """Policy line, grant or default that asked, allowed or denied."""
    state: CallState
    waiting: bool
    """Whether a person has to decide it (``pending``) or settle it (``unknown``)."""
    grantable: bool
    """Whether a standing grant may be given with the decision; never for destructive calls."""
    decision: DecisionKind | None
    decided_by: str | None
    decision_reason: str | None
    decided_at: datetime | None
    proposed_at: datetime
    expires_at: datetime | None
    attempt: int
    """How often it was started."""


class ApprovalCounts(BaseModel):
    """How many calls wait for a person, over all threads or the thread asked for."""

    pending: int
    """To be decided."""
    unknown: int
    """To be settled: started, and nobody knows the outcome."""


class ApprovalList(BaseModel):
    """Approvals in order of proposal: the JSON shape of ``approvals list --json``."""

    approvals: list[Approval]
    counts: ApprovalCounts


class ToolFacts(BaseModel):
    """What is known of the tool now."""

    description: str
    input_schema: dict[str, JsonValue]
    """JSON Schema that edited arguments are held against."""
    idempotent: bool
    timeout_seconds: float
    changed: bool
    """The definition is another one than when the call was proposed: the call would not run."""


class AuditLine(BaseModel):
    """One line of the audit trail."""

    entry: int
    call_id: str
    """Empty where a grant was given or revoked by itself."""
    at: datetime
    actor: str
    """A person, ``model``, ``policy``, ``clock``, ``groundwork`` or the name of a runner."""
    event: str
    detail: dict[str, JsonValue]


class ApprovalCard(BaseModel):
    """Everything a person needs to decide or settle: the JSON shape of ``approvals show --json``."""

    approval: Approval
    tool: ToolFacts | None
    """None while the tool is not on offer, its server down for example, and of a call that has ended."""
    runner: str | None
    started_at: datetime | None
    finished_at: datetime | None
    result_text: str | None
    result_structured: dict[str, JsonValue] | None
    audit: list[AuditLine]


class DecisionRequest(_Body):
    """A decision on one pending call."""

    decision: DecisionKind
    """``respond`` answers in the tool's place with ``reason``; the tool does not run."""
    seen_hash: Hash
    """``arguments_hash`` of the card that was seen."""
    reason: Reason = ""
    """Told to the model for ``reject``; the answer for ``respond``; kept in the audit for all."""
    arguments: dict[str, JsonValue] | None = None
    """The new arguments, whole, for ``edit`` alone."""
    grant: GrantChoice = "none"
    """With ``approve`` or ``edit``: do not ask for this tool again in this chat, or where ``patterns`` match."""
    patterns: Patterns = Field(default_factory=dict)
    """Globs for ``grant: arguments``; they must match the arguments of this call."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.decision == "edit") != (self.arguments is not None):
            raise ValueError("send arguments with an edit, and with nothing else")
        if self.decision == "respond" and not self.reason:
            raise ValueError("send the answer of a respond as its reason")
        if self.grant != "none" and self.decision not in ("approve", "edit"):
            raise ValueError("a grant comes with an approve or an edit")
        if (self.grant == "arguments") != bool(self.patterns):
            raise ValueError("send patterns with the grant 'arguments', and with nothing else")
        return self


class SettlementRequest(_Body):
    """What became of a call whose outcome is unknown."""

    settlement: Settlement
    """``try_again`` makes it wait for a fresh decision."""
    note: Reason = ""


class RejectRunRequest(_Body):
    """Reject every undecided call of a run."""

    run_id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    reason: Reason = ""


class AuditTrail(BaseModel):
    """Audit lines, oldest first; ``next`` is the ``after`` of the next page, None at the end."""

    entries: list[AuditLine]
    next: int | None


class GrantInfo(BaseModel):
    """A standing grant."""

    grant_id: str
    scope: GrantScope
    server: str
    tool: str
    thread_id: str
    """Empty for one that holds in every chat."""
    arguments: dict[str, str]
    granted_by: str
    granted_at: datetime
    call_id: str
    """Call on whose card it was given; empty for one given by itself."""


class GrantList(BaseModel):
    """Standing grants, oldest first: the JSON shape of ``grants list --json``."""

    grants: list[GrantInfo]


class GrantRequest(_Body):
    """A grant without a card: for one tool, in one chat or, with patterns, in every chat."""

    server: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    tool: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    thread_id: Annotated[str, StringConstraints(max_length=64)] = ""
    arguments: Patterns = Field(default_factory=dict)
