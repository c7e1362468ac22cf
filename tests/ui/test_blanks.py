from __future__ import annotations

import pytest

from ui.blanks import fill_template, missing, template_blanks


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("notes://shift/{day}", {"day": "monday"}, "notes://shift/monday"),
        ("notes://{name}", {"name": "a b/c"}, "notes://a%20b%2Fc"),
        ("files://{+path}", {"path": "docs/a b.md"}, "files://docs/a%20b.md"),
        ("notes://all{?from,to}", {"from": "1 May", "to": "x&y"}, "notes://all?from=1%20May&to=x%26y"),
        ("notes://all{?from,to}", {"to": "9"}, "notes://all?to=9"),
        ("notes://all{?from}", {}, "notes://all"),
        ("notes://a{/part}{#place}", {"part": "b", "place": "c"}, "notes://a/b#c"),
        ("notes://plain", {"day": "monday"}, "notes://plain"),
    ],
)
def test_template_is_filled_in(template: str, values: dict[str, str], expected: str) -> None:
    assert fill_template(template, values) == expected


def test_blanks_of_a_template_are_named_once_in_order() -> None:
    assert [blank.name for blank in template_blanks("x://{+path}/{id}{?q,id:3,list*}")] == ["path", "id", "q", "list"]


def test_blanks_that_must_be_filled_in_and_are_not_are_named() -> None:
    assert missing(template_blanks("x://{a}/{b}"), {"b": "1"}) == ["a"]
