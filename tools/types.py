"""Values of the tool layer: what a tool is, what a call is, what came of it. Knows no model and no graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

from retrieval.types import SearchFilter

Arguments: TypeAlias = Mapping[str, JsonValue]

ProgressFunction: TypeAlias = Callable[[float, float | None, str | None], None]
"""Called with how far a call has come, how far it is to the end (None when unknown), and a word about it."""

Risk: TypeAlias = Literal["read", "write", "destructive", "egress", "unknown"]
"""What a call can do: ``read`` looks, ``write`` changes, ``destructive`` cannot be undone, ``egress`` sends text to
an address outside, ``unknown`` is a tool that nobody vouched for."""

BUILTIN_SERVER = "groundwork"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model, the policy and the approval card know of a tool.

    Attributes:
        server: Name of the MCP server it comes from; ``groundwork`` for built-ins.
        name: Name within its server.
        description: What it does, in the words of its author.
        input_schema: JSON Schema of its arguments, an object schema.
        risk: Risk class; hints of an untrusted server never lower it below ``unknown``.
        idempotent: A trusted server says that a second call changes nothing more.
        idempotency_argument: Name of the argument that takes an idempotency key; empty when there is none.
        timeout_seconds: Time limit of one call.
        fingerprint: Hash of everything above that a server could change under a reviewed tool.
    """

    server: str
    name: str
    description: str
    input_schema: Mapping[str, JsonValue]
    risk: Risk = "unknown"
    idempotent: bool = False
    idempotency_argument: str = ""
    timeout_seconds: float = 60.0
    fingerprint: str = ""

    @property
    def qualified_name(self) -> str:
        """The name on the model's wire: ``server__tool``; a built-in has its bare name."""
        return self.name if self.server == BUILTIN_SERVER else f"{self.server}__{self.name}"


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returned. ``text`` is for the model and can be cited; ``structured`` is for programs."""

    text: str
    structured: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """For whom a call runs: a person, and what that person may see of the stored documents."""

    user: str = "local"
    scope: SearchFilter = field(default_factory=SearchFilter)


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who calls, for tools that keep things per thread or user, or that take an idempotency key.

    ``on_progress`` hears of a long call while it runs; it must return at once. ``scope`` is what the person who asked
    may see of the stored documents; a tool that reads them narrows it and never leaves it.
    """

    thread_id: str
    run_id: str
    call_id: str
    user: str = "local"
    on_progress: ProgressFunction | None = None
    scope: SearchFilter = field(default_factory=SearchFilter)


ToolFunction: TypeAlias = Callable[[Arguments, CallContext], Awaitable[ToolOutput]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and the code behind it; only ``tools.execute`` calls ``function``."""

    spec: ToolSpec
    function: ToolFunction = field(repr=False)
