"""Whether a call may run, must be asked for, or is refused: pure functions over rules, grants and taint.

Order: a matching ``deny`` wins wherever it stands; else the first matching rule decides; else the call is asked for.
An ``ask`` may be lifted by a grant that a person gave, never for destructive calls, and not for write, egress or
unknown calls while untrusted text is in the thread (the Rule of Two: untrusted input, access and effect never meet
without a person).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tools.fingerprint import canonical_json
from tools.types import Arguments, Risk, ToolSpec

Action: TypeAlias = Literal["allow", "ask", "deny"]
GrantScope: TypeAlias = Literal["chat", "arguments"]

NEVER_GRANTED: frozenset[Risk] = frozenset({"destructive"})
RAISED_BY_TAINT: frozenset[Risk] = frozenset({"write", "egress", "unknown"})


class PolicyRule(BaseModel):
    """One line of the policy; every given pattern must match. Patterns are shell globs, case-sensitive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Action
    """What becomes of a matching call."""
    server: str = "*"
    """Glob over the server's name."""
    tool: str = "*"
    """Glob over the tool's name within its server."""
    risk: tuple[Risk, ...] = ()
    """Risk classes; empty matches all."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """Globs over arguments by name, compared with the argument as text; a missing argument does not match."""
    even_when_tainted: bool = False
    """For ``allow``: holds for write, egress and unknown calls although untrusted text is in the thread."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A person's standing yes. ``thread_id`` is empty for a grant over all threads."""

    grant_id: str
    scope: GrantScope
    server: str
    tool: str
    thread_id: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What the policy says of a call, and which line said it."""

    action: Action
    reason: str
    """For a person: the rule, grant or default that decided."""
    rule_index: int | None = None
    """Zero-based place of the rule; None when no rule matched."""
    grant_id: str = ""


DEFAULT_RULES: tuple[PolicyRule, ...] = (PolicyRule(action="allow", risk=("read",)),)
"""Looking is free; everything else is asked for."""


def decide(
    spec: ToolSpec,
    arguments: Arguments,
    *,
    rules: Sequence[PolicyRule],
    grants: Sequence[Grant],
    thread_id: str,
    tainted: bool,
) -> PolicyDecision:
    """Decide one call.

    Args:
        spec: The tool, with its risk class.
        arguments: Arguments that already fit the tool's schema.
        rules: The policy, in order.
        grants: Standing grants, of any thread.
        thread_id: Thread that the call belongs to.
        tainted: Whether text from documents, tools or the web is in the thread.
    """
    ruled = _decide_by_rules(spec, arguments, rules=rules, tainted=tainted)
    if ruled.action != "ask":
        return ruled
    grant = _matching_grant(spec, arguments, grants=grants, thread_id=thread_id)
    if grant is None:
        return ruled
    if spec.risk in NEVER_GRANTED:
        return PolicyDecision("ask", f"{spec.risk} calls are asked for each time", ruled.rule_index)
    if tainted and spec.risk in RAISED_BY_TAINT:
        return PolicyDecision(
            "ask", "the saved grant does not apply: untrusted text is in this thread", ruled.rule_index
        )
    return PolicyDecision("allow", "a saved grant covers this call", ruled.rule_index, grant.grant_id)


def grantable(spec: ToolSpec) -> bool:
    """Whether a card may offer a standing grant for this tool."""
    return spec.risk not in NEVER_GRANTED


def covers(grant: Grant, *, server: str, tool: str, thread_id: str, arguments: Arguments) -> bool:
    """Whether a grant speaks of this call; risk and taint may still ask for it."""
    same_tool = grant.server == server and grant.tool == tool
    in_scope = grant.thread_id in ("", thread_id)
    return same_tool and in_scope and _arguments_match(grant.arguments, arguments)


def _decide_by_rules(
    spec: ToolSpec, arguments: Arguments, *, rules: Sequence[PolicyRule], tainted: bool
) -> PolicyDecision:
    matching = [(index, rule) for index, rule in enumerate(rules) if _matches(rule, spec, arguments)]
    for index, rule in matching:
        if rule.action == "deny":
            return PolicyDecision("deny", f"policy line {index + 1} denies it", index)
    if not matching:
        return PolicyDecision("ask", "no policy line matches; unmatched calls are asked for")
    index, rule = matching[0]
    if rule.action == "allow" and tainted and spec.risk in RAISED_BY_TAINT and not rule.even_when_tainted:
        return PolicyDecision("ask", f"policy line {index + 1} allows it, but untrusted text is in this thread", index)
    if rule.action == "allow" and spec.risk in NEVER_GRANTED:
        return PolicyDecision("ask", f"{spec.risk} calls are asked for each time", index)
    return PolicyDecision(rule.action, f"policy line {index + 1} says {rule.action}", index)


def _matches(rule: PolicyRule, spec: ToolSpec, arguments: Arguments) -> bool:
    return (
        fnmatchcase(spec.server, rule.server)
        and fnmatchcase(spec.name, rule.tool)
        and (not rule.risk or spec.risk in rule.risk)
        and _arguments_match(rule.arguments, arguments)
    )


def _matching_grant(spec: ToolSpec, arguments: Arguments, *, grants: Sequence[Grant], thread_id: str) -> Grant | None:
    for grant in grants:
        if covers(grant, server=spec.server, tool=spec.name, thread_id=thread_id, arguments=arguments):
            return grant
    return None


def _arguments_match(patterns: Mapping[str, str], arguments: Arguments) -> bool:
    return all(name in arguments and fnmatchcase(_as_text(arguments[name]), glob) for name, glob in patterns.items())


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else canonical_json(value)
