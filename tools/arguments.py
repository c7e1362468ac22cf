"""Arguments of a call: parsed from the model's text, held against the tool's schema, before anybody sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, relevance
from pydantic import JsonValue

from tools.errors import ArgumentsInvalid
from tools.types import Arguments, ToolSpec


def parse_arguments(text: str) -> dict[str, JsonValue]:
    """Arguments from the JSON object that a model wrote; empty text is no arguments.

    Raises:
        ArgumentsInvalid: The text is not one JSON object (half-closed, a list, trailing words).
    """
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ArgumentsInvalid(f"The arguments are not valid JSON ({error.msg}); send one JSON object.") from error
    if not isinstance(value, dict):
        raise ArgumentsInvalid("The arguments must be one JSON object.")
    return cast(dict[str, JsonValue], value)


def validate_arguments(spec: ToolSpec, arguments: Arguments) -> None:
    """Hold arguments against the tool's JSON Schema (draft 2020-12).

    Raises:
        ArgumentsInvalid: They do not fit; the sentence names the argument and what it should be.
    """
    _require_storable(spec, arguments)
    validator = Draft202012Validator(dict(spec.input_schema))
    errors = sorted(cast(Iterable[ValidationError], validator.iter_errors(dict(arguments))), key=relevance)
    if errors:
        error = errors[-1]
        path = ".".join(str(part) for part in error.absolute_path)
        where = f"Argument {path!r}" if path else "The arguments"
        raise ArgumentsInvalid(f"{where} of {spec.qualified_name!r} do not fit: {error.message}.")


def _require_storable(spec: ToolSpec, arguments: Arguments) -> None:
    """What JSON cannot carry (NaN, half of a surrogate pair) could be neither hashed nor stored as it was shown."""
    try:
        json.dumps(dict(arguments), allow_nan=False, ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise ArgumentsInvalid(
            f"The arguments of {spec.qualified_name!r} hold a number or character that JSON cannot carry."
        ) from error
