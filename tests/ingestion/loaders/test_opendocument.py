from __future__ import annotations

from collections.abc import Mapping

from ingestion.loaders.loader import Sample
from ingestion.loaders.odp import LOADER as ODP
from ingestion.loaders.odp import load_odp
from ingestion.loaders.odt import LOADER as ODT
from ingestion.loaders.odt import load_odt
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import blocks_of, document_of, reason_of, zip_of

NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in [
        *(("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing")),
        *(("presentation", "presentation"), ("style", "style"), ("meta", "meta"), ("manifest", "manifest")),
    ]
)
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


def package(kind: str, body: str, styles: str = "", extra: Mapping[str, str] | None = None) -> bytes:
    return zip_of(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {NAMES} {DC}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document-content>",
            **(extra or {}),
        }
    )


def read(body: str, styles: str = "", extra: Mapping[str, str] | None = None) -> ParsedDocument:
    return document_of(load_odt, package("text", body, styles, extra), "a.odt")


def texts(document: ParsedDocument) -> list[str]:
    return [text for _, text in blocks_of(document)]


def test_headings_paragraphs_and_blanks() -> None:
    body = (
        '<text:h text:outline-level="1">One</text:h><text:section><text:p>a<text:s text:c="2"/>b<text:tab/>c'
        "<text:line-break/>d <text:span>e</text:span>\n f</text:p></text:section>"
        '<text:h text:outline-level="2">Two</text:h><text:p>Text.</text:p>'
    )

    document = read(body)

    assert blocks_of(document)[1] == ("paragraph", "a  b\tc\nd e  f")
    assert document.blocks[-1].heading_path == ("One", "Two")


def test_lists_are_numbered_as_their_style_says() -> None:
    styles = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        '<text:list-level-style-bullet text:level="2"/></text:list-style>'
    )
    inner = "<text:list><text:list-item><text:p>slowly</text:p></text:list-item></text:list>"
    body = (
        f'<text:list text:style-name="L1"><text:list-item><text:p>Drain</text:p>{inner}</text:list-item>'
        "<text:list-item><text:p>Reboot</text:p><text:p>and wait</text:p></text:list-item></text:list>"
    )

    assert blocks_of(read(body, styles)) == [("list", "1. Drain\n  - slowly\n2. Reboot\n  and wait")]


def test_merged_cells_stand_in_each_place_they_cover() -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    rows = [
        cell("Zone") + cell("Sales", 'table:number-columns-spanned="2"') + covered,
        cell("North", 'table:number-rows-spanned="2"') + cell("1") + cell("2"),
        covered + cell("3", 'table:number-columns-repeated="2"'),
    ]
    head, *others = [f"<table:table-row>{row}</table:table-row>" for row in rows]
    body = f"<table:table><table:table-header-rows>{head}</table:table-header-rows>{''.join(others)}</table:table>"

    assert blocks_of(read(body)) == [
        ("table", "| Zone | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 3 |")
    ]


def test_notes_comments_and_boxes_follow_their_paragraph() -> None:
    note = (
        '<text:note text:note-class="{}"><text:note-citation>{}</text:note-citation>'
        "<text:note-body><text:p>{}</text:p></text:note-body></text:note>"
    )
    comment = "<office:annotation><dc:creator>Ann</dc:creator><text:p>Sure?</text:p></office:annotation>"
    box = "<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>"
    notes = note.format("footnote", 1, "Proof.") + note.format("endnote", "i", "Late.")
    body = f"<text:p>Fact{notes}{comment}{box}.</text:p>"

    assert texts(read(body)) == ["Fact[^1][^ei].", "boxed", "[^1]: Proof.", "[^ei]: Late.", "Comment by Ann: Sure?"]


def test_deleted_text_and_tables_of_contents_are_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>old</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:table-of-content><text:index-body><text:p>One 1</text:p>"
        "</text:index-body></text:table-of-content><text:p>Now <text:change/>new</text:p>"
    )

    assert texts(read(body)) == ["Now new"]


def test_title_style_properties_and_margins() -> None:
    styles = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    margins = "<style:header><text:p>Runbook 3</text:p></style:header><style:footer><text:p>1</text:p></style:footer>"
    master = f"<x {NAMES}>{margins}</x>"
    meta = f"<x {NAMES} {DC}><office:meta><dc:creator>Ann</dc:creator></office:meta></x>"

    document = read('<text:p text:style-name="P1">Guide</text:p>', styles, {"styles.xml": master, "meta.xml": meta})

    assert texts(document) == ["Header: Runbook 3", "Guide"]
    assert (document.title, document.metadata) == ("Guide", {"author": "Ann"})


def test_encrypted_and_broken_texts_have_their_reasons() -> None:
    manifest = f"<manifest:manifest {NAMES}><manifest:encryption-data/></manifest:manifest>"

    assert reason_of(load_odt, package("text", "", extra={"META-INF/manifest.xml": manifest}), "a.odt") == "encrypted"
    assert reason_of(load_odt, package("text", "<text:p>"), "a.odt") == "corrupt"
    assert reason_of(load_odt, package("text", "<text:p>cut</text:p>")[:-30], "a.odt") == "corrupt"
    assert reason_of(load_odt, package("text", ""), "a.odt") == "empty"
    assert reason_of(load_odt, package("graphics", ""), "a.odt") == "unsupported_type"


def test_slides_are_pages_with_titles_and_notes() -> None:
    def frame(kind: str, text: str) -> str:
        box = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'

    styles = (
        '<style:style style:name="dp2"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    slides = (
        f"<draw:page>{frame('outline', 'Body')}{frame('title', 'Plan')}<draw:g>{frame('graphic', 'Inner')}</draw:g>"
        f"{frame('page-number', '1')}<presentation:notes>{frame('notes', 'Say hello.')}</presentation:notes>"
        f'</draw:page><draw:page draw:style-name="dp2">{frame("outline", "Spare")}</draw:page><draw:page/>'
    )

    document = document_of(load_odp, package("presentation", slides, styles), "a.odp")

    assert texts(document) == ["Plan", "Body", "Inner", "Speaker notes: Say hello.", "Slide 2 (hidden slide)", "Spare"]
    assert [block.page for block in document.blocks] == [1, 1, 1, 1, 2, 2]
    assert (document.title, document.page_count) == ("Plan", 3)


def test_files_are_known_by_their_content() -> None:
    text, slides = Sample(package("text", ""), "a.zip"), Sample(package("presentation", ""), "a.odt")

    assert (ODT.certainty(text), ODP.certainty(text)) == (3, 0)
    assert ODP.certainty(slides) == 3
    assert ODT.certainty(Sample(b"text", "a.odt")) == 0
