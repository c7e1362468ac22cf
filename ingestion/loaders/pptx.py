"""Presentations: a slide is a page and a section, with its lists, tables, chart figures, notes and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_chart import read_chart
from ingestion.loaders.office_embedded import embedded_files
from ingestion.loaders.office_package import Element, OfficePackage, Relationship, open_package
from ingestion.loaders.pptx_text import P, R, SlidePart, body_texts, placeholder, slide_parts
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_MAIN_PART = "ppt/presentation.xml"
_MODERN = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
_EMPTY_TITLES = frozenset(("PowerPoint Presentation", "PowerPoint-Präsentation", "Presentation", "Slide 1"))
"""What programs write into the title property by themselves."""
_DIAGRAM_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"


def load_pptx(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The document of a presentation, and the files embedded in it; pages are slides, hidden ones counted.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``empty``, or ``unsupported_type``.
    """
    package = open_package(data)
    main = package.main_part(_MAIN_PART)
    root = package.xml(main)
    if root is None or root.tag != P + "presentation":
        raise LoadFailed("unsupported_type", "The file is no presentation; save it as .pptx or PDF.")
    links = package.relationships(main)
    slides = [links[key].target for key in _slide_ids(root) if key in links]
    reader = _Reader(package, links)
    for number, part in enumerate(slides, start=1):
        if (slide := package.xml(part)) is not None:
            reader.read(slide, part, number)
    properties = package.core_properties()
    metadata: dict[str, MetadataValue] = {key: value for key, value in properties.items() if key != "title"}
    given = properties.get("title", "")
    document = reader.assembly.finish(
        title=(given if given not in _EMPTY_TITLES else "") or reader.title or title_from_name(name),
        media_type=MEDIA_TYPE,
        page_count=len(slides),
        metadata=metadata,
    )
    return Loaded(document, embedded_files(package, slides, options))


def _slide_ids(root: Element) -> Iterator[str]:
    for slide in root.iter(P + "sldId"):
        yield slide.get(R + "id") or ""


class _Reader:
    """Adds slides one after another; ``title`` is the first slide's."""

    def __init__(self, package: OfficePackage, links: Mapping[str, Relationship]) -> None:
        self.assembly = DocumentAssembly()
        self.title = ""
        self._package = package
        self._authors = _authors(package, links)

    def read(self, slide: Element, part: str, number: int) -> None:
        """Add a slide; one without any text adds nothing."""
        links = self._package.relationships(part)
        parts = slide_parts(slide)
        notes = [text for link in _of_kind(links, "notesSlide") for text in self._notes(link)]
        comments = [text for link in _of_kind(links, "comments") for text in self._comments(link)]
        if not parts and not notes and not comments:
            return
        titles = [part.text for part in parts if part.kind == "title"]
        self.title = self.title or (titles[0] if titles and number == 1 else "")
        label = " (hidden slide)" if slide.get("show") in ("0", "false") else ""
        self.assembly.heading((titles[0] if titles else f"Slide {number}") + label, level=1, page=number)
        for other in titles[1:]:
            self.assembly.add("paragraph", other, page=number)
        for piece in parts:
            self._add(piece, links, number)
        if notes:
            self.assembly.add("paragraph", "Speaker notes: " + "\n".join(notes), page=number)
        for comment in comments:
            self.assembly.add("paragraph", comment, page=number)

    def _add(self, piece: SlidePart, links: Mapping[str, Relationship], page: int) -> None:
        if piece.kind in ("paragraph", "list", "table"):
            self.assembly.add(piece.kind, piece.text, page=page)
        elif piece.kind in ("chart", "diagram") and piece.text in links:
            root = self._package.xml(links[piece.text].target)
            if root is None:
                return
            if piece.kind == "diagram":
                texts = [collapse(" ".join(body_texts(body))) for point in root.iter(_DIAGRAM_POINT) for body in point]
                self.assembly.add("list", "\n".join(f"- {text}" for text in texts if text), page=page)
                return
            chart = read_chart(root)
            self.assembly.add("paragraph", f"Chart: {chart.title}" if chart.title else "", page=page)
            self.assembly.add("table", chart.table, page=page)

    def _notes(self, part: str) -> Iterator[str]:
        root = self._package.xml(part)
        for shape in root.iter(P + "sp") if root is not None else ():
            if placeholder(shape) == "body":
                yield from body_texts(shape.find(P + "txBody"))

    def _comments(self, part: str) -> Iterator[str]:
        """Comments of both kinds: old ones hold a text, those of newer programs paragraphs, replies included."""
        root = self._package.xml(part)
        if root is None:
            return
        for tag in (P + "cm", _MODERN + "cm", _MODERN + "reply"):
            for comment in root.iter(tag):
                author = self._authors.get(comment.get("authorId") or "", "unknown")
                bodies = [
                    body for name in (_MODERN + "txBody", P + "txBody") if (body := comment.find(name)) is not None
                ]
                text = comment.findtext(P + "text") or " ".join(line for body in bodies for line in body_texts(body))
                if text.strip():
                    yield f"Comment by {author}: {collapse(text)}"


def _of_kind(links: Mapping[str, Relationship], kind: str) -> list[str]:
    return [link.target for link in links.values() if link.kind == kind]


def _authors(package: OfficePackage, links: Mapping[str, Relationship]) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, tag in (("commentAuthors", P + "cmAuthor"), ("authors", _MODERN + "author")):
        for part in _of_kind(links, kind):
            root = package.xml(part)
            for author in root.iter(tag) if root is not None else ():
                found[author.get("id") or ""] = collapse(author.get("name") or "") or "unknown"
    return found


def _certainty(sample: Sample) -> Certainty:
    return 3 if any(name.startswith("ppt/") for name in sample.zip_names) else 0


LOADER = Loader("PowerPoint", frozenset((".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm")), _certainty, load_pptx)
