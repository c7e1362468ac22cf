"""A form drawn from a JSON Schema of flat properties, as servers of tools ask questions with.

The texts in it are a server's own: they are shown as labels, every sign standing for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias, cast

import streamlit as st
from pydantic import JsonValue

from ui.wording import literal

Kind: TypeAlias = Literal["text", "number", "integer", "yes_no", "choice", "choices", "date"]
_FORMATS: Final = {"email": "name@example.org", "uri": "https://…", "date-time": "2026-01-31T12:00:00Z"}


@dataclass(frozen=True, slots=True)
class Option:
    """A value that may be chosen, and how it is called."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """One property of the schema."""

    name: str
    label: str
    kind: Kind
    required: bool = False
    help: str = ""
    default: JsonValue = None
    options: tuple[Option, ...] = ()
    placeholder: str = ""
    minimum: float | None = None
    maximum: float | None = None
    max_chars: int | None = None


def fields_of(schema: Mapping[str, JsonValue]) -> tuple[Field, ...]:
    """The schema's properties in order; one of a type that no form has is asked for as text."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return tuple(_field(name, rules, name in names) for name, rules in _object(schema.get("properties")).items())


def draw_fields(fields: Iterable[Field], prefix: str) -> None:
    """Draw an input for each field; their values are read with the same prefix."""
    for field in fields:
        _draw(field, f"{prefix}-{field.name}")


def values(fields: Iterable[Field], prefix: str) -> dict[str, JsonValue]:
    """What was filled in, by name; empty inputs are left out."""
    filled: dict[str, JsonValue] = {}
    for field in fields:
        value = st.session_state.get(f"{prefix}-{field.name}")
        if isinstance(value, date):
            value = value.isoformat()
        if field.kind == "integer" and isinstance(value, int | float):
            value = int(value)
        if value not in (None, "") and not (value == [] and not field.required):
            filled[field.name] = cast(JsonValue, value)
    return filled


def _field(name: str, rules: JsonValue, required: bool) -> Field:
    rule = _object(rules)
    options = _options(rule) or _options(_object(rule.get("items")))
    return Field(
        name=name,
        label=_text(rule.get("title")) or name,
        kind=_kind(rule, bool(options)),
        required=required,
        help=_text(rule.get("description")),
        default=rule.get("default"),
        options=options,
        placeholder=_FORMATS.get(_text(rule.get("format")), ""),
        minimum=_number(rule.get("minimum")),
        maximum=_number(rule.get("maximum")),
        max_chars=int(length) if (length := _number(rule.get("maxLength"))) else None,
    )


def _kind(rule: Mapping[str, JsonValue], has_options: bool) -> Kind:
    match rule.get("type"):
        case "boolean":
            return "yes_no"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case "array" if has_options:
            return "choices"
        case _ if has_options:
            return "choice"
        case _:
            return "date" if rule.get("format") == "date" else "text"


def _options(rule: Mapping[str, JsonValue]) -> tuple[Option, ...]:
    """Values of ``enum`` with ``enumNames``, or of ``oneOf`` and ``anyOf`` with titles."""
    if isinstance(listed := rule.get("enum"), list):
        names = rule.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(listed) else listed
        return tuple(Option(str(value), str(label)) for value, label in zip(listed, labels, strict=True))
    for key in ("oneOf", "anyOf"):
        if isinstance(titled := rule.get(key), list):
            entries = [_object(entry) for entry in titled]
            return tuple(
                Option(str(entry["const"]), _text(entry.get("title")) or str(entry["const"]))
                for entry in entries
                if "const" in entry
            )
    return ()


def _draw(field: Field, key: str) -> None:
    label, tip = literal(field.label) + (" \\*" if field.required else ""), literal(field.help) or None
    labels = {option.value: option.label for option in field.options}
    match field.kind:
        case "text":
            text = field.default if isinstance(field.default, str) else ""
            st.text_input(
                label, value=text, key=key, help=tip, placeholder=field.placeholder, max_chars=field.max_chars
            )
        case "number" | "integer":
            _draw_number(field, label, tip, key)
        case "yes_no":
            st.checkbox(label, value=field.default is True, key=key, help=tip)
        case "choice":
            chosen = list(labels).index(field.default) if field.default in labels else None
            st.selectbox(label, list(labels), index=chosen, key=key, help=tip, format_func=labels.__getitem__)
        case "choices":
            kept = [value for value in field.default if value in labels] if isinstance(field.default, list) else []
            st.multiselect(label, list(labels), default=kept, key=key, help=tip, format_func=labels.__getitem__)
        case "date":
            st.date_input(label, value=None, key=key, help=tip)


def _draw_number(field: Field, label: str, tip: str | None, key: str) -> None:
    whole = field.kind == "integer"
    kind = int if whole else float
    given = field.default if isinstance(field.default, int | float) else None
    st.number_input(
        label,
        min_value=None if field.minimum is None else kind(field.minimum),
        max_value=None if field.maximum is None else kind(field.maximum),
        value=None if given is None else kind(given),
        step=1 if whole else None,
        key=key,
        help=tip,
    )


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
