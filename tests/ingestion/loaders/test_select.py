from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.loaders.select import all_loaders, load, surest


def reason(data: bytes, name: str) -> str:
    with pytest.raises(LoadFailed) as raised:
        load(data, name=name)
    return raised.value.reason


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"# Head\n\ntext", "a.md", "text/markdown"),
        (b"# Head\n\ntext", "a.txt", "text/plain"),
        (b"key: value", "a.yaml", "application/yaml"),
        (b"no ending", "README", "text/plain"),
        (b"<!DOCTYPE html><html><body><p>x</p></body></html>", "a.txt", "text/html"),
        (b"<p>fragment</p>", "a.html", "text/html"),
        (b"<html><body><p>error page</p></body></html>", "a.pdf", "text/html"),
        (b"<!DOCTYPE html><title>x</title><body>text", "a.md", "text/html"),
        (b"%PDF is a mark: %PDF-1.7", "a.txt", "text/plain"),
        ("<html><body>wide".encode("utf-16"), "a.txt", "text/html"),
        (b"<!-- note -->\n<div>\n\ntext", "a.md", "text/markdown"),
    ],
)
def test_content_decides_before_the_ending(data: bytes, name: str, media_type: str) -> None:
    document = load(data, name=name).document
    assert document is not None
    assert document.media_type == media_type


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"", "a.md", "empty"),
        (b" \n\t\n", "a.txt", "empty"),
        (b"\xef\xbb\xbf\r\n", "a.txt", "empty"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "a.7z", "unsupported_type"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "a.txt", "unsupported_type"),
        (b"PK\x05\x06" + b"\0" * 18, "a.zip", "empty"),
        (b"%PDF-1.7 cut", "a.txt", "corrupt"),
        (b"PK\x03\x04 cut", "a.docx", "corrupt"),
        (b"%PDF-1.7 cut", "a.pdf", "corrupt"),
        (b"\x00\x01\x02\xff\xfe" * 100, "a.pdf", "corrupt"),
        (b"\x00\x01\x02\xff\xfe" * 100, "a.bin", "unsupported_type"),
    ],
)
def test_what_is_no_text_has_its_reason(data: bytes, name: str, expected: str) -> None:
    assert reason(data, name) == expected


HEADS = st.sampled_from([b"", b"%PDF-1.4\n", b"PK\x03\x04", b"<html>", b"\xff\xfe", b"---\n", b"\xd0\xcf\x11\xe0"])


@settings(max_examples=200, deadline=None)
@given(HEADS, st.binary(max_size=600), st.sampled_from(["a.md", "a.txt", "a.html", "a.pdf", "a.docx", "a"]))
def test_any_bytes_become_text_or_a_reason(head: bytes, body: bytes, name: str) -> None:
    with contextlib.suppress(LoadFailed):
        document = load(head + body, name=name).document
        assert document is not None
        assert document.text.strip()
        assert document.text.encode()


def test_every_format_of_the_folder_takes_part() -> None:
    families = [loader.family for loader in all_loaders()]

    assert set(families) >= {"HTML", "Markdown", "PDF", "Word", "text"}
    assert len(set(families)) == len(families)


def test_no_ending_belongs_to_two_formats() -> None:
    endings = [ending for loader in all_loaders() for ending in loader.endings]

    assert sorted(endings) == sorted(set(endings))
    assert all(ending == ending.lower() and ending.startswith(".") for ending in endings)


def test_equally_sure_loaders_give_way_to_the_one_that_knows_the_ending() -> None:
    loader, certainty = surest(Sample(b"plain words", "a.md"))

    assert (loader.family, certainty) == ("Markdown", 1)


def test_options_reach_the_loader() -> None:
    assert load(b"# Head", name="folder/a.md", options=LoadOptions(max_depth=1)).document is not None


SLOW = {
    "comments before no page": (b"<?xml version='1.0'?>" + b"<!-- a -->" * 300, "a.txt"),
    "declarations without an end": (b"<r>" + b"<!DOCTYPE" * 50_000, "a.xml"),
    "colons without a role": (b":a:" * 100_000 + b"`", "a.rst"),
    "digits in a line of a mailbox": (b"From " + b"1" * 200_000, "a.mbox"),
    "blanks within a cell": (b"a,b\n1" + b" " * 200_000 + b"x,2\n", "a.csv"),
    "blanks behind a definition": (b"class A" + b" (" * 100_000, "a.py"),
    "comments in data": (b"# c\n" * 50_000, "a.yaml"),
}
"""Texts on which a careless pattern takes hours; the suite's time limit for a test is the bound."""


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("data", "name"), SLOW.values(), ids=SLOW)
def test_no_pattern_runs_away(data: bytes, name: str) -> None:
    with contextlib.suppress(LoadFailed):
        load(data, name=name)
