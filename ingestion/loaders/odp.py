"""OpenDocument presentations (odp, otp): a slide is a page and a section, with its notes."""

from __future__ import annotations

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.odf_text import OdfReader, plain_text, read_odf_styles
from ingestion.loaders.office_package import Element, open_package
from ingestion.loaders.opendocument import DRAW, OFFICE, PRESENTATION, properties, refuse_encrypted
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"
_CLASS = PRESENTATION + "class"
_FURNITURE = frozenset(("page-number", "date-time", "footer", "header", "page"))


def load_odp(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of an OpenDocument presentation; pages are slides, hidden ones counted.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``empty``, or ``unsupported_type``.
    """
    package = open_package(data)
    refuse_encrypted(package)
    root = package.xml("content.xml")
    body = root.find(f"{OFFICE}body/{OFFICE}presentation") if root is not None else None
    if body is None:
        raise LoadFailed("unsupported_type", "The file is no OpenDocument presentation; save it as .odp or PDF.")
    styles = read_odf_styles(package)
    reader = OdfReader(DocumentAssembly(), styles)
    slides = list(body.iter(DRAW + "page"))
    title = ""
    for number, slide in enumerate(slides, start=1):
        heading = _read_slide(reader, slide, number, is_hidden=slide.get(DRAW + "style-name") in styles.hidden_pages)
        title = title or (heading if number == 1 else "")
    found = properties(package)
    metadata: dict[str, MetadataValue] = {key: value for key, value in found.items() if key != "title"}
    return reader.assembly.finish(
        title=found.get("title") or title or title_from_name(name),
        media_type=MEDIA_TYPE,
        page_count=len(slides),
        metadata=metadata,
    )


def _read_slide(reader: OdfReader, slide: Element, number: int, *, is_hidden: bool) -> str:
    """Add a slide and return its title; one without any text adds nothing."""
    shapes = [shape for shape in slide if shape.get(_CLASS) not in _FURNITURE]
    title = next((text for shape in shapes if shape.get(_CLASS) == "title" and (text := plain_text(shape))), "")
    notes = [
        text
        for notes in slide.iter(PRESENTATION + "notes")
        for frame in notes
        if frame.get(_CLASS) == "notes" and (text := plain_text(frame))
    ]
    if not notes and not any(plain_text(shape) for shape in shapes if shape.tag != PRESENTATION + "notes"):
        return title
    reader.page = number
    reader.assembly.heading(
        (title or f"Slide {number}") + (" (hidden slide)" if is_hidden else ""), level=1, page=number
    )
    for shape in shapes:
        if shape.get(_CLASS) != "title" and shape.tag != PRESENTATION + "notes":
            reader.read(shape)
    if notes:
        reader.assembly.add("paragraph", "Speaker notes: " + "\n".join(notes), page=number)
    return title


def _certainty(sample: Sample) -> Certainty:
    if "content.xml" not in sample.zip_names:
        return 0
    return 3 if b"opendocument.presentation" in sample.head or sample.ending in LOADER.endings else 0


LOADER = Loader("OpenDocument presentation", frozenset((".odp", ".otp")), _certainty, load_odp)
