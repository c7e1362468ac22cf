from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.loaders.rtf import LOADER, load_rtf
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import blocks_of, document_of, reason_of


def rtf(body: str, head: str = "") -> bytes:
    return b"{\\rtf1\\ansi\\ansicpg1252" + head.encode("ascii") + body.encode("cp1252") + b"}"


def read(data: bytes) -> ParsedDocument:
    return document_of(load_rtf, data, "a.rtf")


def text(body: str, head: str = "") -> str:
    return read(rtf(body, head)).text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"caf\'e9", "café"),
        (r"\u1055 ?\u1086?", "По"),
        (r"{\uc2 \u20320 ab\u22909\'c4\'e3}!", "你好!"),
        (r"\uc0\u-10179\u-8704", "\U0001f600"),
        (r"a\~b\_c\-d\{\}", "a b-cd{}"),
        (r"\ldblquote x\rdblquote\emdash y", "\u201cx\u201d\u2014y"),
        (r"one\tab two\line three", "one\ttwo\nthree"),
    ],
)
def test_characters(body: str, expected: str) -> None:
    assert text(body) == expected


def test_fonts_name_the_encoding_of_their_bytes() -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 MS Mincho;}}"

    assert text(r"\f1\'cf\'f0\'e8\f0 caf\'e9 \f2\'93\'fa\'96\'7b", fonts) == "Приcafé 日本"


def test_headings_come_from_styles_and_outline_levels() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2\sbasedon1 Title;}{\s3\outlinelevel1 Chapter;}}"
    body = r"\pard\s2 Guide\par\pard\s1 One\par\pard Text.\par\pard\s3 Two\par\pard\outlinelevel2 Three\par\pard Last."

    document = read(rtf(body, styles))

    assert [(block.kind, len(block.heading_path)) for block in document.blocks] == [
        *(("heading", 1), ("heading", 1), ("paragraph", 1)),
        *(("heading", 2), ("heading", 3), ("paragraph", 3)),
    ]
    assert document.title == "Guide"


def test_lists_keep_their_numbers_and_levels() -> None:
    body = (
        r"\pard{\listtext\f0 1.\tab}Drain\par{\listtext\f0\'b7\tab}\ilvl1 slowly\par"
        r"\pard{\pntext\f0 2.\tab}Reboot\par\pard After."
    )

    assert blocks_of(read(rtf(body))) == [
        ("list", "1. Drain\n  - slowly\n2. Reboot"),
        ("paragraph", "After."),
    ]


def test_table_cells_that_are_merged_stand_in_each_place() -> None:
    body = (
        r"\trowd\cellx1000\cellx2000\cellx3000\pard\intbl Zone\cell A\cell B\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx3010\pard\intbl North\cell one\par two\cell\row"
        r"\trowd\clvmrg\cellx1000\clmgf\cellx2000\clmrg\cellx3000\pard\intbl\cell three\cell\cell\row\pard After."
    )

    assert blocks_of(read(rtf(body))) == [
        ("table", "| Zone | A | B |\n| --- | --- | --- |\n| North | one two | one two |\n| North | three | three |"),
        ("paragraph", "After."),
    ]


def test_notes_and_comments_follow_their_paragraph() -> None:
    body = (
        r"Fact{\super\chftn}{\footnote\pard Proof.\par}{\footnote\ftnalt Late.}{\*\atnauthor Ann}{\*\annotation Sure?}"
        r"\par Next."
    )

    assert text(body).split("\n\n") == [
        "Fact[^1][^e1]",
        "[^1]: Proof.",
        "[^e1]: Late.",
        "Comment by Ann: Sure?",
        "Next.",
    ]


def test_what_a_reader_does_not_see_is_left_out() -> None:
    head = r"{\colortbl;\red1;}{\*\generator Word;}{\info{\title The guide}{\author Ann}}"
    body = (
        r"Now {\deleted old}{\v hidden}new{\pict\wmetafile8 0102}{\*\unknown junk}{\field{\*\fldinst HYPERLINK x}"
        r"{\fldrslt  link}}{\bin4 {{}}}."
    )

    document = read(rtf(body, head))

    assert document.text == "Now new link."
    assert (document.title, document.metadata) == ("The guide", {"author": "Ann"})


def test_text_boxes_and_margins_stand_once() -> None:
    body = (
        r"{\header Runbook\par}{\footer Page {\field{\*\fldinst PAGE}{\fldrslt 1}}}Text"
        r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt boxed\par}}}.\par"
        r"\sect{\header Runbook\par}More."
    )

    assert text(body).split("\n\n") == ["Header: Runbook", "Text.", "boxed", "More."]


def test_cut_off_file_is_corrupt() -> None:
    assert reason_of(load_rtf, rtf("Text {bold")[:-1], "a.rtf") == "corrupt"


@pytest.mark.timeout(20)
def test_groups_nested_beyond_reason_are_corrupt() -> None:
    assert reason_of(load_rtf, rtf("{" * 200_000), "a.rtf") == "corrupt"


def test_file_without_text_is_empty() -> None:
    assert reason_of(load_rtf, rtf(r"\par"), "a.rtf") == "empty"


def test_rich_text_is_known_by_its_content() -> None:
    assert LOADER.certainty(Sample(rtf("x"), "a.doc")) == 3
    assert LOADER.certainty(Sample(b"plain", "a.rtf")) == 0


PIECES = st.sampled_from(
    [
        *(
            "{",
            "}",
            "\\par ",
            "\\cell ",
            "\\row ",
            "\\trowd",
            "\\cellx9 ",
            "{\\footnote ",
            "\\u-1 ",
            "\\'",
            "\\'9",
            "x",
        ),
        *("\\*", "{\\*\\annotation ", "\\pard", "\\uc9 ", "\\f1", "\\bin99 ", "{\\stylesheet{\\s1 ", "\\", "\\ftnalt"),
    ]
)


@given(st.lists(PIECES, max_size=40))
def test_any_tokens_become_text_or_a_reason(pieces: list[str]) -> None:
    with contextlib.suppress(LoadFailed):
        load_rtf(rtf("".join(pieces)), "a.rtf", LoadOptions())
