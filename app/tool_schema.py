"""Request and response bodies of the tools' routes: pydantic alone, also imported by the UI and the command line.

Descriptions, prompts and resources are the words of the servers: shown as untrusted, never followed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from tools.types import Risk

ToolState = Literal["offered", "needs_review", "changed", "disabled", "unavailable"]
"""``offered`` to models; ``needs_review`` is new; ``changed`` since it was reviewed; ``disabled`` by a person, by
``mcp.json`` or because it cannot be offered; ``unavailable`` while its server does not answer."""

ServerState = Literal["idle", "connecting", "ready", "broken", "disabled", "invalid"]
"""``idle`` starts at its first use; ``broken`` is tried again after a while; ``invalid`` has an entry that does not
fit."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerInfo(BaseModel):
    """An MCP server and how it is doing."""

    name: str
    state: ServerState
    transport: Literal["stdio", "http", ""]
    endpoint: str
    """Command line or address; never environment or headers."""
    trusted: bool
    detail: str
    """What went wrong last, or why the server is not used; empty when all is well."""
    failures: int
    """Failures since it last answered."""
    retry_in_seconds: float
    protocol_version: str
    software: str
    """Name and version as the server gives them."""
    capabilities: list[str]
    ignored_keys: list[str]
    """Keys of its entry that Groundwork does not know."""


class ToolInfo(BaseModel):
    """A tool and what people need to know before they let it in."""

    server: str
    tool: str
    wire_name: str
    """The name that models use."""
    state: ToolState
    reason: str
    """Why it is in this state, for a person; empty when it is offered."""
    risk: Risk
    risk_reason: str
    idempotent: bool
    fingerprint: str
    """Hash of the definition; a review names it."""
    definition: dict[str, JsonValue]
    reviewed_definition: dict[str, JsonValue] | None = None
    """The definition of the last review, when the tool is ``changed``."""
    reviewed_by: str = ""
    reviewed_at: datetime | None = None


class ToolListing(BaseModel):
    """The JSON shape of ``mcp list --json``."""

    servers: list[ServerInfo]
    tools: list[ToolInfo]
    problem: str = ""
    """Why ``mcp.json`` as a whole cannot be read; empty when it can."""


class ToolReview(_Body):
    """A person has looked at this definition of a tool."""

    server: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    fingerprint: str = Field(min_length=1)
    accept: bool


class ToolSwitch(_Body):
    """Switch a reviewed tool on or off."""

    server: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    enabled: bool


class ResourceInfo(BaseModel):
    """A resource of a server; a template's ``uri`` has ``{names}`` to fill in."""

    uri: str
    name: str
    title: str
    description: str
    media_type: str
    size_bytes: int | None
    template: bool


class ResourceListing(BaseModel):
    """What a server has to read."""

    server: str
    resources: list[ResourceInfo]


class ResourcePiece(BaseModel):
    """One piece of a resource; ``text`` is None where it is no text, then ``blob`` has its bytes in base64."""

    uri: str
    media_type: str
    text: str | None
    blob: str | None = None


class ResourceText(BaseModel):
    """A resource that was read."""

    server: str
    pieces: list[ResourcePiece]


class PromptBlank(BaseModel):
    """A blank of a prompt."""

    name: str
    description: str
    required: bool


class PromptInfo(BaseModel):
    """A prompt that a server offers."""

    name: str
    title: str
    description: str
    arguments: list[PromptBlank]


class PromptListing(BaseModel):
    """A server's prompts."""

    server: str
    prompts: list[PromptInfo]


class PromptFill(_Body):
    """Values for the blanks of a prompt."""

    arguments: dict[str, str] = Field(default_factory=dict)


class CompletionAsk(_Body):
    """A blank that is being filled in; exactly one of ``prompt`` and ``template`` says whose."""

    prompt: str = ""
    """Name of a prompt."""
    template: str = ""
    """Address of a template of resources, with its ``{names}``."""
    argument: str = Field(min_length=1)
    value: str = ""
    """What stands in it so far."""
    others: dict[str, str] = Field(default_factory=dict)
    """What stands in the other blanks."""

    @model_validator(mode="after")
    def _names_one(self) -> CompletionAsk:
        if bool(self.prompt) == bool(self.template):
            raise ValueError("name a prompt or a template")
        return self


class CompletionValues(BaseModel):
    """What the server suggests; empty where it suggests nothing."""

    values: list[str]


class PromptLine(BaseModel):
    """One message of a filled-in prompt; a resource in it is named in ``text``."""

    role: str
    text: str
    resource: ResourcePiece | None = None
    """A resource that came with the message, to be attached."""


class PromptText(BaseModel):
    """A filled-in prompt, for a person to read before it is sent."""

    server: str
    name: str
    messages: list[PromptLine]

    @property
    def question(self) -> str:
        """Its words as one question; where it writes for the assistant as well, each message says whose it is."""
        lines = [line for line in self.messages if line.resource is None and line.text.strip()]
        if all(line.role == "user" for line in lines):
            return "\n\n".join(line.text.strip() for line in lines)
        return "\n\n".join(f"{line.role.capitalize()}: {line.text.strip()}" for line in lines)

    @property
    def resources(self) -> list[ResourcePiece]:
        """Resources that come with it, in order."""
        return [line.resource for line in self.messages if line.resource is not None]
