"""An answer as one JSON object of a given schema: what is asked of the model, what is made of its reply, how it reads.

Knows nothing of servers: whether a server holds the reply to the schema or not, the reply is checked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from pydantic import JsonValue
from pydantic_core import from_json

from agents.errors import OutputInvalid, SchemaInvalid

MAX_SCHEMA_CHARACTERS = 20_000
"""Longest schema, as compact JSON: it stands in the prompt of servers that cannot hold a reply to it."""
MAX_ERRORS = 3
"""Faults of a reply that are told to the model at once."""
_FENCE = re.compile(r"^```[a-zA-Z]*\s*\n?|\n?```\s*$")
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


@dataclass(frozen=True, slots=True)
class Field:
    """One value of an object that is neither an object nor a list."""

    path: tuple[str | int, ...]
    value: str | int | float | bool | None

    @property
    def name(self) -> str:
        """The path in words: ``limits.memoryMax`` is ``limits memory max``, places in lists are counted from 1."""
        words = [str(part + 1) if isinstance(part, int) else _WORD_BORDER.sub(" ", part) for part in self.path]
        return " ".join(" ".join(words).split()).lower()


def check_schema(schema: Mapping[str, JsonValue]) -> None:
    """Raises ``SchemaInvalid`` unless this is a JSON Schema of an object that can be asked of a model."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise SchemaInvalid(f"The output schema is no JSON Schema: {error.message} at {error.json_path}.") from error
    if schema.get("type") != "object":
        raise SchemaInvalid('The output schema must have "type": "object" at its top.')
    if len(_compact(schema)) > MAX_SCHEMA_CHARACTERS:
        raise SchemaInvalid(
            f"The output schema is longer than {MAX_SCHEMA_CHARACTERS} characters; ask for less at once."
        )
    if remote := next(_remote_references(schema), None):
        raise SchemaInvalid(f"The output schema refers to {remote!r}; only references within it (#/...) are followed.")


def instruction(schema: Mapping[str, JsonValue]) -> str:
    """What the model is told behind the question."""
    return (
        "Reply with one JSON object and nothing else. Take every value from the passages, copied exactly; where they do"
        f" not say, use null or an empty list if the schema allows it. JSON Schema of the object:\n{_compact(schema)}"
    )


def correction(problem: str) -> str:
    """What the model is told behind a reply that does not fit."""
    return f"That does not fit the schema: {problem} Reply with the whole corrected JSON object and nothing else."


def parse_object(reply: str, schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The object that a reply holds, if it fits.

    A code fence, words around the object and commas before a closing bracket are forgiven; nothing is added and no
    value is changed.

    Raises:
        OutputInvalid: There is no whole object, or it does not fit; the message tells the faults.
    """
    value = _read(reply)
    validator = Draft202012Validator(schema)
    faults = sorted(validator.iter_errors(value), key=lambda fault: list(map(str, fault.absolute_path)))
    if faults:
        raise OutputInvalid(" ".join(_tell(fault) for fault in faults[:MAX_ERRORS]))
    return value


def partial_object(reply: str) -> dict[str, JsonValue] | None:
    """What is whole of an object that is still being written, without a text that has not ended; None before ``{``."""
    start = reply.find("{")
    if start < 0:
        return None
    try:
        value = from_json(reply[start:], allow_partial=True)
    except ValueError:
        return None
    return cast(dict[str, JsonValue], value) if isinstance(value, dict) else None


def fields(value: JsonValue, path: tuple[str | int, ...] = ()) -> Iterator[Field]:
    """Every value of an object that is neither an object nor a list, in order."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from fields(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from fields(part, (*path, place))
    else:
        yield Field(path, value)


def render(value: Mapping[str, JsonValue]) -> str:
    """The object as a list that people read and that the proof takes apart: one item a value, nulls left out."""
    lines = [
        f"- {field.name}: {' '.join(_shown(field.value).split())}"
        for field in fields(dict(value))
        if field.value not in (None, "")
    ]
    return "\n".join(lines)


def _shown(value: str | int | float | bool | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(reply: str) -> dict[str, JsonValue]:
    text = _FENCE.sub("", reply.strip()).strip()
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise OutputInvalid("It holds no whole JSON object.")
    body = text[start : end + 1]
    for candidate in (body, _STRING_OR_TRAILING_COMMA.sub(r"\1", body)):
        try:
            value: object = json.loads(candidate, parse_constant=_no_constant)
        except ValueError:
            continue
        if isinstance(value, dict):
            return cast(dict[str, JsonValue], value)
    raise OutputInvalid("It is no JSON.")


def _no_constant(name: str) -> None:
    """Python reads NaN and Infinity, JSON does not have them."""
    raise ValueError(name)


def _tell(fault: ValidationError) -> str:
    message = fault.message if len(fault.message) <= 200 else f"{fault.message[:200]}..."
    return f"{fault.json_path}: {message.rstrip('.')}."


def _compact(schema: Mapping[str, JsonValue]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _remote_references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in cast(dict[str, object], value).items():
            if key == "$ref" and isinstance(part, str) and not part.startswith("#"):
                yield part
            yield from _remote_references(part)
    elif isinstance(value, list):
        for part in cast(list[object], value):
            yield from _remote_references(part)
