"""The tools on offer, by the name that the model uses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tools.errors import ToolDefinitionInvalid, ToolUnknown
from tools.types import Tool

WIRE_NAME_LENGTH = 64
"""Longest tool name of the OpenAI wire; letters, digits, ``_`` and ``-`` are allowed in it."""


class ToolRegistry:
    """An immutable set of tools. Names are unique on the wire; a clash of two servers' names is an error."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_name: dict[str, Tool] = {}
        for tool in tools:
            name = wire_name(tool.spec.qualified_name)
            if name in by_name:
                other = by_name[name].spec
                raise ToolDefinitionInvalid(
                    f"Tools {tool.spec.name!r} of {tool.spec.server!r} and {other.name!r} of {other.server!r} share "
                    f"the name {name!r}; rename one server."
                )
            by_name[name] = tool
        self._by_name: Mapping[str, Tool] = MappingProxyType(by_name)

    def get(self, name: str) -> Tool:
        """The tool of that wire name; raises ``ToolUnknown`` with the names that exist, for the model to read."""
        tool = self._by_name.get(name)
        if tool is None:
            raise ToolUnknown(
                f"There is no tool {name!r}; the tools are: {', '.join(sorted(self._by_name)) or 'none'}."
            )
        return tool

    def tools(self) -> Mapping[str, Tool]:
        """All tools by wire name, sorted, so that the prompt that lists them is byte-stable."""
        return MappingProxyType(dict(sorted(self._by_name.items())))


def wire_name(qualified_name: str) -> str:
    """A name that the OpenAI wire accepts; a name that had to be cut ends in a hash of the whole."""
    cleaned = re.sub(r"[^A-Za-z0-9_-]", "_", qualified_name)
    if len(cleaned) <= WIRE_NAME_LENGTH:
        return cleaned
    digest = hashlib.sha256(qualified_name.encode("utf-8")).hexdigest()[:8]
    return f"{cleaned[: WIRE_NAME_LENGTH - 9]}_{digest}"
