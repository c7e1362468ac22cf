"""An answer as one JSON object of a given schema: what is asked of the model, what is made of its reply, how it reads.

Knows nothing of servers: whether a server holds the reply to the schema or not, the reply is checked here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from pydantic import JsonValue
from pydantic_core import from_json
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, Schema

from agents.errors import OutputInvalid, SchemaInvalid

MAX_SCHEMA_CHARACTERS = 20_000
"""Longest schema, as compact JSON: it stands in the prompt of servers that cannot hold a reply to it."""
_TOO_DEEP = "It is nested too deeply."
MAX_ERRORS = 3
"""Faults of a reply that are told to the model at once."""
MAX_DEPTH = 64
"""Deepest nesting of an object; a model that is caught in a recursive schema goes on until its tokens end."""
LONGEST_LABEL = 40
"""Longest text that an entry of a list is called by."""
_FORMATS = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))
"""Formats that are checked, beside ``date-time``; any other is a remark, as the specification has it."""
_VALUES = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose contents are values and no schemas."""
_FENCE = re.compile(r"^```[a-zA-Z]*\s*\n?|\n?```\s*$")
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    """RFC 3339: a day, a time and a zone; jsonschema itself checks it with a package beside it alone."""
    return not isinstance(value, str) or ("T" in value.upper() and datetime.fromisoformat(value).tzinfo is not None)


@dataclass(frozen=True, slots=True)
class Field:
    """One value of an object that is neither an object nor a list."""

    labels: tuple[str, ...]
    """Keys on the way to it, and of entries of lists what they are called."""
    value: str | int | float | bool | None

    @property
    def name(self) -> str:
        """The labels as words: ``limits.memoryMax`` is ``limits memory max``."""
        return " ".join(" ".join(self.labels).split())


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
    registry: Registry[Schema] = Registry()
    resolver = registry.resolver_with_root(DRAFT202012.create_resource(dict(schema)))
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise SchemaInvalid(
                f"The output schema refers to {reference!r}; only references within it (#/...) are followed."
            )
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            raise SchemaInvalid(f"The output schema refers to {reference!r}, which it does not have.") from error


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
    value is changed. What cannot be stored as JSON again, half a character or a number beyond all bounds, does not fit.

    Raises:
        OutputInvalid: There is no whole object, or it does not fit; the message tells the faults.
    """
    value = _read(reply)
    _require_storable(value)
    validator = Draft202012Validator(schema, format_checker=_FORMATS)
    try:
        faults = sorted(validator.iter_errors(value), key=lambda fault: list(map(str, fault.absolute_path)))
    except (RecursionError, Unresolvable) as error:
        raise OutputInvalid("The schema cannot be applied to it: it refers to itself without an end.") from error
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


def fields(value: JsonValue, labels: tuple[str, ...] = ()) -> Iterator[Field]:
    """Every value of an object that is neither an object nor a list, in order.

    An entry of a list is called what its first text says, as people do: a text that tells of the node pool ``general``
    knows nothing of entry 1. Entries without a text are all called as their list is.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            yield from fields(part, (*labels, _words_of(key)))
    elif isinstance(value, list):
        for part in value:
            called = _called(part)
            for field in fields(part, labels):
                own = called is None or field.value == called
                yield field if own else Field((*labels, called or "", *field.labels[len(labels) :]), field.value)
    else:
        yield Field(labels, value)


def render(value: Mapping[str, JsonValue]) -> str:
    """The object as a list that people read and that the proof takes apart: one item a value, nulls left out."""
    lines = [
        f"- {field.name}: {' '.join(_shown(field.value).split())}"
        for field in fields(dict(value))
        if field.value not in (None, "")
    ]
    return "\n".join(lines)


def _words_of(key: str) -> str:
    return _WORD_BORDER.sub(" ", key).lower()


def _called(entry: JsonValue) -> str | None:
    """The first text of an object; None where it has none that is short."""
    texts = entry.values() if isinstance(entry, dict) else ()
    return next((text for text in texts if isinstance(text, str) and 0 < len(text) <= LONGEST_LABEL), None)


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
        except RecursionError as error:
            raise OutputInvalid(_TOO_DEEP) from error
        except ValueError:
            continue
        if isinstance(value, dict):
            return cast(dict[str, JsonValue], value)
    raise OutputInvalid("It is no JSON.")


def _no_constant(name: str) -> None:
    """Python reads NaN and Infinity, JSON does not have them."""
    raise ValueError(name)


def _require_storable(value: JsonValue, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise OutputInvalid(_TOO_DEEP)
    if isinstance(value, dict):
        for key, part in value.items():
            _require_storable(key)
            _require_storable(part, depth + 1)
    elif isinstance(value, list):
        for part in value:
            _require_storable(part, depth + 1)
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise OutputInvalid("It holds half a character.")
    elif isinstance(value, float) and not math.isfinite(value):
        raise OutputInvalid("It holds a number beyond all bounds.")


def _tell(fault: ValidationError) -> str:
    message = fault.message if len(fault.message) <= 200 else f"{fault.message[:200]}..."
    return f"{fault.json_path}: {message.rstrip('.')}."


def _compact(schema: Mapping[str, JsonValue]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in cast(dict[str, object], value).items():
            if key in ("$ref", "$dynamicRef") and isinstance(part, str):
                yield part
            elif key not in _VALUES:
                yield from _references(part)
    elif isinstance(value, list):
        for part in cast(list[object], value):
            yield from _references(part)
