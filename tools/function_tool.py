"""A tool from a typed async function: schema from its signature, words from its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, get_type_hints

from pydantic import ConfigDict, Field, create_model

from tools.errors import ToolDefinitionInvalid
from tools.fingerprint import definition_fingerprint
from tools.types import BUILTIN_SERVER, Arguments, CallContext, Risk, Tool, ToolOutput, ToolSpec

CONTEXT_PARAMETER = "context"
"""A parameter of this name gets the ``CallContext`` and never reaches the model."""


def function_tool(
    function: Callable[..., Awaitable[ToolOutput]],
    *,
    risk: Risk,
    idempotent: bool = False,
    timeout_seconds: float = 30.0,
) -> Tool:
    """Offer a function as a built-in tool.

    Args:
        function: Its name is the tool's name; every parameter but ``context`` is typed and described under ``Args:``.
            Bounds of a parameter stand in ``Annotated[..., Field(ge=1)]`` and reach the schema.
        risk: What a call can do.
        idempotent: A second call with the same arguments changes nothing more.
        timeout_seconds: Time limit of one call.

    Raises:
        ToolDefinitionInvalid: The docstring is missing or leaves out an argument.
    """
    name = function.__name__
    docstring = inspect.getdoc(function)
    if not docstring:
        raise ToolDefinitionInvalid(f"Tool {name!r} has no docstring; its first line tells the model what it does.")
    descriptions = _argument_descriptions(docstring)
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    takes_context = CONTEXT_PARAMETER in parameters
    fields: dict[str, Any] = {}
    for parameter in parameters.values():
        if parameter.name == CONTEXT_PARAMETER:
            continue
        if parameter.name not in descriptions:
            raise ToolDefinitionInvalid(f"Argument {parameter.name!r} of tool {name!r} is not described under 'Args:'.")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], Field(default, description=descriptions[parameter.name]))
    model = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)

    async def call(arguments: Arguments, context: CallContext) -> ToolOutput:
        parsed = model.model_validate(dict(arguments))
        values: dict[str, Any] = {field: getattr(parsed, field) for field in fields}
        return await function(**values, **({CONTEXT_PARAMETER: context} if takes_context else {}))

    spec = ToolSpec(
        server=BUILTIN_SERVER,
        name=name,
        description=_summary(docstring),
        input_schema=model.model_json_schema(),
        risk=risk,
        idempotent=idempotent,
        timeout_seconds=timeout_seconds,
    )
    return Tool(replace(spec, fingerprint=definition_fingerprint(spec)), call)


def _summary(docstring: str) -> str:
    return docstring.partition("\nArgs:")[0].strip()


def _argument_descriptions(docstring: str) -> dict[str, str]:
    """Descriptions by name from a Google-style ``Args:`` section, continuation lines joined."""
    _, found, section = docstring.partition("\nArgs:\n")
    descriptions: dict[str, str] = {}
    name = ""
    for line in section.splitlines() if found else []:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            break
        head, separator, text = line.strip().partition(":")
        if indent == 4 and separator:
            name = head.partition(" ")[0]
            descriptions[name] = text.strip()
        elif name:
            descriptions[name] += f" {line.strip()}"
    return descriptions
