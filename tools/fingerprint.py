"""Hashes that pin what a person saw: a tool's definition, a call's arguments."""

from __future__ import annotations

import hashlib
import json

from pydantic import JsonValue

from tools.types import Arguments, ToolSpec


def canonical_json(value: JsonValue | Arguments) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def arguments_hash(server: str, tool: str, arguments: Arguments) -> str:
    """SHA-256 over server, tool and arguments; an approval holds for exactly this hash."""
    return _sha256(canonical_json([server, tool, dict(arguments)]))


def definition_fingerprint(spec: ToolSpec) -> str:
    """SHA-256 over what a server could change after a review: name, description, schema and hints."""
    return _sha256(
        canonical_json([spec.server, spec.name, spec.description, dict(spec.input_schema), spec.risk, spec.idempotent])
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
