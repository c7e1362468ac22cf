"""Electronic books (EPUB 2 and 3): the chapters in reading order, each read as a web page under its own heading."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urldefrag

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.html import load_html
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import Element, OfficePackage, open_package
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/epub+zip"
_CONTAINER = "META-INF/container.xml"
_PAGES = frozenset(("application/xhtml+xml", "text/html"))
_FIELDS = {
    "creator": "author",
    "language": "language",
    "subject": "subject",
    "publisher": "publisher",
    "date": "published",
}
_FONT_ALGORITHMS = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
"""Ways to scramble fonts; text that is encrypted names another one."""


class _Chapter(NamedTuple):
    part: str
    label: str


def load_epub(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of a book; its pages depend on the screen, so it has none.

    Raises:
        LoadFailed: ``encrypted`` for a protected book, ``corrupt``, ``unsafe_archive`` or ``empty``.
    """
    package = open_package(data)
    _refuse_protected(package)
    part = _book_part(package)
    book = package.xml(part)
    if book is None:
        raise LoadFailed("corrupt", "The book does not say what it consists of.")
    fields = {child.tag.rpartition("}")[2]: collapse(child.text or "") for child in _elements(book, "metadata")}
    title = fields.get("title", "") or title_from_name(name)
    assembly = DocumentAssembly()
    for number, chapter in enumerate(_chapters(package, book, part), start=1):
        _add_chapter(assembly, package, chapter, book_title=title, number=number)
    metadata: dict[str, MetadataValue] = {
        target: value for source, target in _FIELDS.items() if (value := fields.get(source, ""))
    }
    return assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)


def _book_part(package: OfficePackage) -> str:
    container = package.xml(_CONTAINER)
    files = container.iter("{*}rootfile") if container is not None else ()
    return next((path for file in files if (path := file.get("full-path"))), "")


def _elements(book: Element, name: str) -> list[Element]:
    """Children of the first element of a name; EPUB 2 and 3 use one namespace, some books none."""
    return [child for found in list(book.iter("{*}" + name))[:1] for child in found]


def _refuse_protected(package: OfficePackage) -> None:
    root = package.xml("META-INF/encryption.xml")
    methods = root.iter("{*}EncryptionMethod") if root is not None else ()
    if any(method.get("Algorithm") not in _FONT_ALGORITHMS for method in methods):
        raise LoadFailed("encrypted", "The book is protected against copying; give a copy without protection.")


def _chapters(package: OfficePackage, book: Element, part: str) -> Iterator[_Chapter]:
    """Pages of the spine in reading order, without the table of contents."""
    items = {item.get("id") or "": item for item in _elements(book, "manifest")}
    labels = _labels(package, part, items)
    for reference in _elements(book, "spine"):
        item = items.get(reference.get("idref") or "")
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        target = _resolve(part, item.get("href"))
        if target in package.names:
            yield _Chapter(target, labels.get(target, ""))


def _labels(package: OfficePackage, part: str, items: Mapping[str, Element]) -> dict[str, str]:
    """What the table of contents calls each page, in EPUB 3 a page of links, in EPUB 2 a part of its own."""
    labels: dict[str, str] = {}
    for item in items.values():
        path = _resolve(part, item.get("href"))
        is_nav = "nav" in (item.get("properties") or "").split()
        if not is_nav and item.get("media-type") != "application/x-dtbncx+xml":
            continue
        try:
            root = package.xml(path)
        except LoadFailed:
            continue  # A book reads well without its table of contents.
        for link in root.iter("{*}a" if is_nav else "{*}navPoint") if root is not None else ():
            source = link if is_nav else link.find("{*}content")
            label = link if is_nav else link.find("{*}navLabel")
            if source is not None and label is not None:
                target = _resolve(path, source.get("href" if is_nav else "src"))
                labels.setdefault(target, collapse("".join(label.itertext())))
    return labels


def _resolve(part: str, reference: str | None) -> str:
    target = unquote(urldefrag(reference or "").url)
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), target))


def _add_chapter(
    assembly: DocumentAssembly, package: OfficePackage, chapter: _Chapter, *, book_title: str, number: int
) -> None:
    """Add a page; one that does not begin with a heading gets the one of the table of contents."""
    try:
        page = load_html(package.read(chapter.part), name=chapter.part)
    except LoadFailed as error:
        if error.reason == "empty":
            return
        raise
    if page.blocks[0].kind != "heading":
        own = page.title if page.title not in (book_title, title_from_name(chapter.part)) else ""
        assembly.heading(chapter.label or own or f"Part {number}", level=1)
    for block in page.blocks:
        text = page.text[block.char_start : block.char_end]
        if block.kind == "heading":
            assembly.heading(text, level=len(block.heading_path))
        else:
            assembly.add(block.kind, text, language=block.language)


def _certainty(sample: Sample) -> Certainty:
    if _CONTAINER not in sample.zip_names:
        return 0
    return 3 if b"application/epub+zip" in sample.head or sample.ending == ".epub" else 0


LOADER = Loader("EPUB", frozenset((".epub",)), _certainty, load_epub)
