from __future__ import annotations

from agents.acting.choices import compact_schema


def test_a_schema_is_shown_without_titles_and_bounds() -> None:
    schema = compact_schema(
        {
            "type": "object",
            "title": "edit",
            "additionalProperties": False,
            "properties": {
                "title": {"type": "string", "title": "Title", "maxLength": 400, "description": "New title."},
                "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "maxItems": 9},
                "level": {"$ref": "#/$defs/Level"},
            },
            "required": ["title"],
            "$defs": {"Level": {"enum": ["low", "high"], "title": "Level", "type": "string"}},
        }
    )
    assert schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "New title."},
            "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "tags": {"type": "array", "items": {"type": "string"}},
            "level": {"$ref": "#/$defs/Level"},
        },
        "required": ["title"],
        "$defs": {"Level": {"enum": ["low", "high"], "type": "string"}},
    }
