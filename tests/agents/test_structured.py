from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from agents.errors import OutputInvalid, SchemaInvalid
from agents.structured import check_schema, fields, parse_object, partial_object, render

LIMITS: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "reason": {"enum": ["OOMKilled", "Error", "Completed"]},
        "exitCode": {"type": "integer"},
        "containers": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["reason", "exitCode"],
    "additionalProperties": False,
}
GOOD: dict[str, JsonValue] = {
    "reason": "OOMKilled", "exitCode": 137, "containers": [{"name": "orders"}], "note": None,
}  # fmt: skip
WRITTEN = json.dumps(GOOD)


@pytest.mark.parametrize(
    "reply",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"Here it is:\n{WRITTEN}\nAnything else?",
        WRITTEN.replace("}]", "},]").replace("null}", "null,\n}"),
    ],
)
def test_reply_around_an_object_is_forgiven(reply: str) -> None:
    assert parse_object(reply, LIMITS) == GOOD


def test_commas_within_texts_stay() -> None:
    schema: Mapping[str, JsonValue] = {"type": "object"}

    assert parse_object('{"a": "x,]", "b": [1,],}', schema) == {"a": "x,]", "b": [1]}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("NOT_FOUND", "no whole JSON object"),
        ('{"reason": "OOMKilled", "exitCode": 137', "no whole JSON object"),
        ('{"reason": OOMKilled}', "no JSON"),
        ('{"reason": "OOMKilled", "exitCode": NaN}', "no JSON"),
        ('{"reason": "OOMKilled", "exitCode": 1e999}', "beyond all bounds"),
        ('{"reason": "OOMKilled", "exitCode": 1, "note": "\\ud83d"}', "half a character"),
        (f'{{"containers": {"[" * 100}{"]" * 100}}}', "nested too deeply"),
        (f'{{"containers": {"[" * 100_000}{"]" * 100_000}}}', "nested too deeply"),
        ('{"reason": "OOMKilled"}', "'exitCode' is a required property"),
        ('{"reason": "Killed", "exitCode": 137}', r"\$\.reason: 'Killed' is not one of"),
        ('{"reason": "Error", "exitCode": "137"}', r"\$\.exitCode: '137' is not of type 'integer'"),
        ('{"reason": "Error", "exitCode": 1, "more": 2}', "'more' was unexpected"),
    ],
)
def test_reply_that_does_not_fit_tells_why(reply: str, told: str) -> None:
    with pytest.raises(OutputInvalid, match=told):
        parse_object(reply, LIMITS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(OBJECTS, st.sampled_from(["{}", "```json\n{}\n```", "Sure.\n{}", "{}\n\nDone."]))
def test_what_was_written_is_what_is_read(value: dict[str, JsonValue], around: str) -> None:
    assert parse_object(around.replace("{}", json.dumps(value)), {"type": "object"}) == value


ESCAPED = st.text(alphabet='{}[]",:\\\\ud8001e9-. \n`', max_size=60)
"""Pieces that JSON is made of, so that broken and odd JSON comes up, and no prose alone."""


@given(st.builds("".join, st.lists(st.one_of(ESCAPED, OBJECTS.map(json.dumps), st.just("```")), max_size=4)))
def test_whatever_is_read_can_be_written_again(reply: str) -> None:
    value = None
    with suppress(OutputInvalid):
        value = parse_object(reply, {"type": "object"})

    assert value is None or json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode()) == value


@given(OBJECTS, st.data())
def test_object_with_a_fault_is_never_taken(value: dict[str, JsonValue], data: st.DataObject) -> None:
    """A good object with one member changed: taken only where a validator finds nothing, and then unchanged."""
    key = data.draw(st.sampled_from([*GOOD, "more"]))
    changed = {**GOOD, key: data.draw(JSON), **(value if data.draw(st.booleans()) else {})}
    fits = Draft202012Validator(LIMITS).is_valid(changed)

    taken = None
    with suppress(OutputInvalid):
        taken = parse_object(json.dumps(changed), LIMITS)

    assert taken == (changed if fits else None)


@given(st.text())
def test_any_reply_gives_an_object_that_fits_or_an_honest_error(reply: str) -> None:
    value = None
    with suppress(OutputInvalid):
        value = parse_object(reply, LIMITS)

    assert value is None or {"reason", "exitCode"} <= set(value) <= set(GOOD)


@given(OBJECTS, st.data())
def test_every_prefix_can_be_shown(value: dict[str, JsonValue], data: st.DataObject) -> None:
    written = json.dumps(value)
    cut = data.draw(st.integers(0, len(written)))

    part = partial_object(written[:cut])

    assert part is None or set(part) <= set(value)
    assert partial_object(written) == value


def test_text_that_has_not_ended_is_not_shown_letter_by_letter() -> None:
    assert partial_object('{"reason": "OOM') == {}
    assert partial_object('{"reason": "OOMKilled", "note": "The con') == {"reason": "OOMKilled"}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array"}, '"type": "object"'),
        ({"type": "object", "properties": {"a": {"type": "number?"}}}, "no JSON Schema"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/s.json"}}}, "refers to"),
        ({"type": "object", "description": "x" * 20_001}, "longer than"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "which it does not have"),
        ({"type": "object", "properties": {"a": {"pattern": "(a"}}}, "is not a 'regex'"),
        ({"type": "object", "patternProperties": {"[": {}}}, "is not a 'regex'"),
    ],
)
def test_schema_that_cannot_be_asked_is_refused(schema: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(SchemaInvalid, match=told):
        check_schema(schema)


def test_references_within_a_schema_are_followed() -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "$defs": {"size": {"type": "string", "pattern": "^[0-9]+Mi$"}},
        "properties": {"limit": {"$ref": "#/$defs/size"}},
    }
    check_schema(schema)

    assert parse_object('{"limit": "512Mi"}', schema) == {"limit": "512Mi"}
    with pytest.raises(OutputInvalid):
        parse_object('{"limit": "512 megabytes"}', schema)


def test_values_of_a_schema_are_no_references() -> None:
    check_schema({"type": "object", "properties": {"link": {"const": {"$ref": "x"}}}})


def test_schema_without_an_end_fails_honestly() -> None:
    schema: dict[str, JsonValue] = {"type": "object", "allOf": [{"$ref": "#"}]}
    check_schema(schema)
    with pytest.raises(OutputInvalid, match="without an end"):
        parse_object("{}", schema)


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date", "2026-03-14", "14.03.2026"),
        ("date-time", "2026-02-11T03:22:10Z", "2026-02-11 03:22"),
        ("email", "grace@example.org", "grace"),
        ("hostname", "anything is a remark", None),
    ],
)
def test_formats_that_can_be_checked_are(format_: str, good: str, bad: str | None) -> None:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {"a": {"type": "string", "format": format_}}}

    assert parse_object(json.dumps({"a": good}), schema) == {"a": good}
    if bad is not None:
        with pytest.raises(OutputInvalid, match=f"is not a '{format_}'"):
            parse_object(json.dumps({"a": bad}), schema)


def test_object_reads_as_a_list_of_its_values() -> None:
    assert render(GOOD) == "- reason: OOMKilled\n- exit code: 137\n- containers name: orders"
    assert [field.name for field in fields(GOOD)] == ["reason", "exit code", "containers name", "note"]


def test_entries_of_a_list_are_called_as_people_call_them() -> None:
    pools: dict[str, JsonValue] = {
        "nodePools": [{"name": "general", "limits": {"nodes": 18}}, {"nodes": 2, "name": "gpu"}, {"nodes": 4}],
        "zones": ["eu-1a", "eu-1b"],
        "sums": [[1], [2]],
    }
    assert render(pools).splitlines() == [
        "- node pools name: general",
        "- node pools general limits nodes: 18",
        "- node pools gpu nodes: 2",
        "- node pools name: gpu",
        "- node pools nodes: 4",
        "- zones: eu-1a",
        "- zones: eu-1b",
        "- sums: 1",
        "- sums: 2",
    ]


def test_long_text_calls_no_entry() -> None:
    assert render({"steps": [{"what": "x" * 60, "minutes": 5}]}).splitlines()[1] == "- steps minutes: 5"


@given(OBJECTS)
def test_every_value_is_told_once(value: dict[str, JsonValue]) -> None:
    def count(part: JsonValue) -> int:
        inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else None
        return 1 if inside is None else sum(map(count, inside))

    assert sum(1 for _ in fields(value)) == count(value)
