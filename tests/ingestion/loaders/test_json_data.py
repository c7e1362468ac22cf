from __future__ import annotations

from ingestion.loaders.json_data import load_json
from ingestion.loaders.loader import Sample
from ingestion.loaders.select import surest
from ingestion.types import ParsedDocument


def parts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def test_every_value_stands_on_a_line_that_reads_alone() -> None:
    source = (
        '{"name": "pod", "spec": {"containers": [{"image": "nginx", "ports": [80, 443]}], "on": true, "off": null}}'
    )

    document = load_json(source, name="a.json")

    assert document.title == "pod"
    assert document.text.split("\n") == [
        "name: pod",
        "spec.containers[0].image: nginx",
        "spec.containers[0].ports: 80, 443",
        "spec.on: true",
        "spec.off: null",
    ]


def test_figures_stand_as_written() -> None:
    assert load_json('{"a": 1.50, "b": 1e400, "c": 12345678901234567890}', name="a").text == (
        "a: 1.50\nb: 1e400\nc: 12345678901234567890"
    )


def test_large_part_is_a_section_with_a_paragraph_for_each_record() -> None:
    records = ", ".join(f'{{"id": {number}, "note": "{"word " * 10}"}}' for number in range(20))

    document = load_json(f'{{"kind": "list", "records": [{records}]}}', name="a.json")

    assert [block.kind for block in document.blocks[:3]] == ["paragraph", "heading", "paragraph"]
    assert {block.heading_path for block in document.blocks[1:]} == {("records",)}
    assert len(document.blocks) == 22
    assert "records[7].id: 7" in document.text


def test_lines_are_records_and_a_broken_one_stays_and_is_flagged() -> None:
    document = load_json('{"a": 1}\n{"a": 2}\n{"a": 3,\n', name="a.jsonl")

    assert parts(document) == [("paragraph", "a: 1"), ("paragraph", "a: 2"), ("paragraph", '{"a": 3,')]
    assert document.metadata == {"rows": 3, "partial": True}
    assert document.media_type == "application/jsonl"


def test_records_are_found_under_another_ending() -> None:
    assert load_json('{"a": 1}\n{"a": 2}\n', name="a.json").media_type == "application/jsonl"


def test_text_that_is_not_valid_is_shown_as_it_is_and_flagged() -> None:
    document = load_json('{\n  // comment\n  "a": 1\n}', name="a.json")

    assert parts(document)[0][0] == "code"
    assert '"a": 1' in document.text
    assert document.metadata == {"partial": True}


def test_nesting_beyond_all_measure_is_shown_as_it_is() -> None:
    assert load_json("[" * 100_000 + "]" * 100_000, name="a.json").metadata == {"partial": True}


def test_content_tells_it_under_a_wrong_ending() -> None:
    assert surest(Sample(b'{"a": [1, 2]}', "a.txt"))[0].family == "JSON"
    assert surest(Sample(b"[1] a footnote [2]", "a.txt"))[0].family == "text"
    assert surest(Sample(b"{{< shortcode >}}", "a.txt"))[0].family == "text"
