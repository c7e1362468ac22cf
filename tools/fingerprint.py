"""Hashes that pin what a person saw: a tool's definition, a call's arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue

from tools.types import Arguments, ToolSpec


def canonical_json(value: JsonValue | Arguments) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def arguments_hash(server: str, tool: str, arguments: Arguments) -> str:
    """SHA-256 over server, tool and arguments; an approval holds for exactly this hash."""
    return _sha256(canonical_json([server, tool, dict(arguments)]))


def definition_fingerprint(spec: ToolSpec, *, claims: Mapping[str, JsonValue] | None = None) -> str:
    """SHA-256 over what could change under a reviewed tool.

    Args:
        spec: The tool; its server, name, description and schema always count.
        claims: What a server says of its tool beside that: title, hints, output schema. Then the risk class does not
            count, which an operator may set anew without a review. None for a built-in, where it does count.
    """
    rest = [spec.risk, spec.idempotent] if claims is None else [dict(claims)]
    return _sha256(canonical_json([spec.server, spec.name, spec.description, dict(spec.input_schema), *rest]))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
