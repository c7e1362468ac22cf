from __future__ import annotations

from collections.abc import Mapping

from ingestion.loaders.epub import LOADER, load_epub
from ingestion.loaders.loader import Sample
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import blocks_of, document_of, reason_of, zip_of

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def page(body: str, title: str = "The Book") -> str:
    head = f"<head><title>{title}</title></head>"
    return f'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">{head}<body>{body}</body></html>'


def epub(pages: Mapping[str, str], *, items: str = "", extra: Mapping[str, str | bytes] | None = None) -> bytes:
    """A book of pages in this order; ids are the names."""
    manifest = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in pages)
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Book</dc:title><dc:creator>Ann</dc:creator><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}{manifest}</manifest><spine>{spine}</spine></package>"
    )
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": book,
        **{f"OEBPS/{name}": text for name, text in pages.items()},
    }
    return zip_of(parts | dict(extra or {}))


def read(data: bytes) -> ParsedDocument:
    return document_of(load_epub, data, "a.epub")


def test_chapters_stand_in_the_order_of_the_spine() -> None:
    pages = {"z.xhtml": page("<h1>First</h1><h2>Part</h2><p>One.</p>"), "a.xhtml": page("<h1>Second</h1><p>Two.</p>")}

    document = read(epub(pages))

    assert [
        (text, block.heading_path) for (_, text), block in zip(blocks_of(document), document.blocks, strict=True)
    ] == [
        ("First", ("First",)),
        ("Part", ("First", "Part")),
        ("One.", ("First", "Part")),
        ("Second", ("Second",)),
        ("Two.", ("Second",)),
    ]
    assert (document.title, document.page_count) == ("The Book", None)
    assert document.metadata == {"author": "Ann", "language": "en"}


def test_chapter_without_a_heading_has_that_of_the_table_of_contents() -> None:
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd"><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">'
        '<navMap><navPoint><navLabel><text>Old contents</text></navLabel><content src="b.xhtml#x"/></navPoint>'
        "</navMap></ncx>"
    )
    nav = page('<nav><ol><li><a href="a.xhtml">New contents</a></li></ol></nav>')
    items = (
        '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    )
    pages = {
        "a.xhtml": page("<p>One.</p>"),
        "b.xhtml": page("<p>Two.</p>"),
        "c.xhtml": page("<p>Three.</p>", "Own title"),
    }

    document = read(epub(pages, items=items, extra={"OEBPS/nav.xhtml": nav, "OEBPS/toc.ncx": ncx}))

    headings = [text for kind, text in blocks_of(document) if kind == "heading"]
    assert headings == ["New contents", "Old contents", "Own title"]


def test_page_without_text_is_passed_over() -> None:
    pages = {"cover.xhtml": page('<img src="cover.png"/>'), "a.xhtml": page("<h1>First</h1><p>One.</p>")}

    assert read(epub(pages)).text == "First\n\nOne."
    assert reason_of(load_epub, epub({"cover.xhtml": page("")}), "a.epub") == "empty"


def test_protected_book_is_encrypted_and_scrambled_fonts_are_not() -> None:
    def encryption(algorithm: str) -> dict[str, str]:
        method = f'<EncryptionMethod Algorithm="{algorithm}"/>'
        return {"META-INF/encryption.xml": f"<encryption><EncryptedData>{method}</EncryptedData></encryption>"}

    pages = {"a.xhtml": page("<h1>First</h1>")}

    locked = epub(pages, extra=encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc"))
    assert reason_of(load_epub, locked, "a.epub") == "encrypted"
    assert reason_of(load_epub, epub(pages, extra=encryption("http://www.idpf.org/2008/embedding")), "a.epub") == ""


def test_broken_book_is_corrupt() -> None:
    assert reason_of(load_epub, zip_of({"META-INF/container.xml": CONTAINER}), "a.epub") == "corrupt"
    assert reason_of(load_epub, epub({"a.xhtml": page("")})[:-100], "a.epub") == "corrupt"


def test_books_are_known_by_their_content() -> None:
    assert LOADER.certainty(Sample(epub({}), "a.zip")) == 3
    assert LOADER.certainty(Sample(zip_of({"META-INF/container.xml": CONTAINER}), "a.jar")) == 0
