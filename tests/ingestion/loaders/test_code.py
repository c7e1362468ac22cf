from __future__ import annotations

import pytest

from ingestion.loaders.code import load_code
from ingestion.loaders.loader import Sample
from ingestion.loaders.select import load, surest
from ingestion.types import ParsedDocument

PYTHON = '''\
"""Stock."""
import os


class Stock:
    """What is there."""

    @property
    def size(self) -> int:
        return 1

    # Takes one.
    async def take(self):
        def inner():
            pass


def main(
    argument,
):
    pass


main()
'''


def outline(document: ParsedDocument) -> list[tuple[tuple[str, ...], str]]:
    return [
        (block.heading_path, document.text[block.char_start : block.char_end].split("\n")[0].strip())
        for block in document.blocks
    ]


def test_definitions_are_parts_with_their_lines() -> None:
    document = load_code(PYTHON, name="stock.py", language="python")

    stock = "class Stock (lines 5-15)"
    assert document.title == "stock.py"
    assert document.text == PYTHON
    assert outline(document) == [
        ((), '"""Stock."""'),
        ((stock,), "class Stock:"),
        ((stock, "def size(self) -> int (lines 8-10)"), "@property"),
        ((stock, "async def take(self) (lines 12-15)"), "# Takes one."),
        (("def main (lines 18-21)",), "def main("),
        ((), "main()"),
    ]
    assert {(block.kind, block.language) for block in document.blocks} == {("code", "python")}


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("go", "package a\n\nfunc (s *S) Size() int {\n\treturn 1\n}\n", ["func (s *S) Size() int (lines 3-5)"]),
        ("rust", "impl A for B {\n    fn f(&self) {}\n}\n", ["impl A for B (lines 1-3)", "fn f(&self) (lines 2-2)"]),
        ("java", "class A {\n  void m() {\n  }\n}\n", ["class A (lines 1-4)", "void m() (lines 2-3)"]),
        ("c", "int add(int a)\n{\n  return a;\n}\n", ["int add(int a) (lines 1-4)"]),
        ("typescript", "export const f = (x) => {\n  x\n}\n", ["const f = (x) (lines 1-3)"]),
        ("hcl", 'resource "a" "b" {\n  c = 1\n}\n', ['resource "a" "b" (lines 1-3)']),
        ("toml", "a = 1\n\n[tool.x]\nb = 2\n", ["[tool.x] (lines 3-4)"]),
        ("bash", "f() {\n  echo\n}\n", ["f() (lines 1-3)"]),
        ("sql", "CREATE TABLE a (\n  b int\n);\n", ["CREATE TABLE a (lines 1-3)"]),
    ],
)
def test_outline_of_other_languages(language: str, source: str, expected: list[str]) -> None:
    document = load_code(source, name="a", language=language)

    found = [name for block in document.blocks for name in block.heading_path]
    assert list(dict.fromkeys(found)) == expected


@pytest.mark.parametrize("source", ["def f(:\n  x\nclass", "}}}} {{{ ((", "x = 1\r\ny = 2", "\f\ndef f(): pass"])
def test_damaged_code_keeps_all_its_text(source: str) -> None:
    document = load_code(source, name="a.py", language="python")

    kept = "".join(document.text[block.char_start : block.char_end] for block in document.blocks)
    assert "".join(kept.split()) == "".join(source.split())


def test_name_and_first_line_tell_the_language_without_an_ending() -> None:
    for data, name, language in [
        (b"FROM a\nRUN b\n", "Dockerfile", "dockerfile"),
        (b"#!/usr/bin/env python3\nx = 1\n", "run", "python"),
        (b"#!/bin/sh\necho\n", "run.txt", "bash"),
    ]:
        document = load(data, name=name).document
        assert document is not None
        assert document.metadata["programming_language"] == language


def test_page_under_a_code_ending_is_a_page() -> None:
    assert surest(Sample(b"<!doctype html><html><body>x", "a.py"))[0].family == "HTML"
