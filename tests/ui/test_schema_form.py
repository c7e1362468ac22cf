from __future__ import annotations

from ui.schema_form import Field, Option, fields_of


def test_each_kind_of_property_has_its_field() -> None:
    fields = fields_of(
        {
            "properties": {
                "a": {"type": "string", "title": "Name", "maxLength": 20},
                "b": {"type": "integer", "minimum": 1, "maximum": 9},
                "c": {"type": "number", "default": 0.5},
                "d": {"type": "boolean"},
                "e": {"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]},
                "f": {"type": "string", "oneOf": [{"const": "x", "title": "Ex"}, {"const": "y"}]},
                "g": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}},
                "h": {"type": "string", "format": "date"},
                "i": {"type": "string", "format": "email"},
            },
            "required": ["a"],
        }
    )

    assert fields == (
        Field("a", "Name", "text", required=True, max_chars=20),
        Field("b", "b", "integer", minimum=1, maximum=9),
        Field("c", "c", "number", default=0.5),
        Field("d", "d", "yes_no"),
        Field("e", "e", "choice", options=(Option("x", "Ex"), Option("y", "Why"))),
        Field("f", "f", "choice", options=(Option("x", "Ex"), Option("y", "y"))),
        Field("g", "g", "choices", options=(Option("x", "Ex"),)),
        Field("h", "h", "date"),
        Field("i", "i", "text", placeholder="name@example.org"),
    )


def test_schema_that_is_none_has_no_fields() -> None:
    assert fields_of({}) == ()
    assert fields_of({"properties": ["a"]}) == ()
    assert fields_of({"properties": {"a": None}}) == (Field("a", "a", "text"),)
