"""What a model may choose in one turn beside real tools: answer, report to its supervisor, hand work to a member."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from agents.acting.config import AgentCatalog, AgentSpec
from agents.chat_model import ToolDefinition
from agents.guidance import NO_GUIDANCE, Guidance
from tools.registry import ToolRegistry

REVIEW_TOOL = "review_text"
"""The built-in tool behind the review steps of workflows; no model is offered it."""
READ_ON_TOOL = "read_output"
"""The built-in tool that reads the part of a long result that was cut."""
_LEFT_OUT = frozenset(
    {
        *("title", "additionalProperties", "examples", "$schema", "$id", "$comment", "pattern", "format"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
)
_BY_NAME = frozenset({"properties", "$defs", "definitions", "patternProperties"})
"""Keywords whose keys are names, not keywords."""
_OF_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
ANSWER = "answer"
REPORT = "report"
HAND_TO = "hand_to_"


def offered_tools(
    spec: AgentSpec, registry: ToolRegistry, *, cut_results: bool, guidance: Guidance = NO_GUIDANCE
) -> list[ToolDefinition]:
    """The agent's own tools, sorted by name, so that prompts that list them are byte-stable.

    Args:
        spec: The agent.
        registry: All tools.
        cut_results: Whether a result was too long to be shown whole, so that there is something to read on in.
        guidance: May leave it fewer tools.
    """
    hidden = {REVIEW_TOOL} if cut_results else {REVIEW_TOOL, READ_ON_TOOL}
    return [
        ToolDefinition(name, tool.spec.description, compact_schema(tool.spec.input_schema))
        for name, tool in registry.tools().items()
        if may_call(spec, name, guidance) and name not in hidden
    ]


def may_call(spec: AgentSpec, wire_name: str, guidance: Guidance) -> bool:
    """Whether a tool is the agent's own and a preset leaves it to it; what reads a cut result on always stays."""
    return spec.may_call(wire_name) and (wire_name == READ_ON_TOOL or guidance.may_use(wire_name))


def compact_schema(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A schema as the model needs it: types, names, words, choices.

    Titles repeat names, and bounds are held by the ledger's own check of the whole schema; both cost tokens in every
    turn, and servers that turn a schema into a grammar grow slow on long bounds.
    """
    return {key: _compact(key, value) for key, value in schema.items() if key not in _LEFT_OUT}


def _compact(key: str, value: JsonValue) -> JsonValue:
    if key in _BY_NAME and isinstance(value, dict):
        return {name: compact_schema(inner) if isinstance(inner, dict) else inner for name, inner in value.items()}
    if isinstance(value, dict):
        return compact_schema(value)
    if isinstance(value, list) and key in _OF_SCHEMAS:
        return [compact_schema(item) if isinstance(item, dict) else item for item in value]
    return value


def hand_over_tools(spec: AgentSpec, catalog: AgentCatalog) -> list[ToolDefinition]:
    """One choice for each member of a supervisor."""
    return [
        ToolDefinition(
            f"{HAND_TO}{member}",
            f"Hand a task to the agent {member!r}. {catalog.agents[member].description}",
            _text_schema("task", "What the agent is to find out or do, with every name and number it needs."),
        )
        for member in spec.members
    ]


def ending_tools(*, is_member: bool) -> list[ToolDefinition]:
    """The choice that ends an agent's work, offered where the model must choose one each time."""
    if is_member:
        description = "End your work and report to the agent that asked you."
        findings = "What you found or did, with names and numbers."
        return [ToolDefinition(REPORT, description, _text_schema("findings", findings))]
    description = (
        "Answer the user now. Choose this when the results so far hold what was asked, when no tool can help, or when "
        "a call was rejected."
    )
    return [ToolDefinition(ANSWER, description, {"type": "object", "properties": {}, "additionalProperties": False})]


def _text_schema(name: str, description: str) -> Mapping[str, JsonValue]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }
