"""OpenDocument texts (odt, ott): margins once, headings, lists, tables, notes and comments of the final text."""

from __future__ import annotations

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.margins import margin_lines
from ingestion.loaders.odf_text import OdfReader, plain_text, read_odf_styles
from ingestion.loaders.office_package import open_package
from ingestion.loaders.opendocument import OFFICE, STYLE, properties, refuse_encrypted
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"


def load_odt(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of an OpenDocument text.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``empty``, or ``unsupported_type``.
    """
    package = open_package(data)
    refuse_encrypted(package)
    root = package.xml("content.xml")
    body = root.find(f"{OFFICE}body/{OFFICE}text") if root is not None else None
    if body is None:
        raise LoadFailed("unsupported_type", "The file is no OpenDocument text; save it as .odt or PDF.")
    reader = OdfReader(DocumentAssembly(), read_odf_styles(package))
    styles = package.xml("styles.xml")
    for kind, label in (("header", "Header"), ("footer", "Footer")):
        margins = styles.iter(STYLE + kind) if styles is not None else ()
        for line in margin_lines(label, map(plain_text, margins)):
            reader.assembly.add("paragraph", line)
    reader.read(body)
    found = properties(package)
    metadata: dict[str, MetadataValue] = {key: value for key, value in found.items() if key != "title"}
    title = found.get("title") or reader.title or title_from_name(name)
    return reader.assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)


def _certainty(sample: Sample) -> Certainty:
    if "content.xml" not in sample.zip_names:
        return 0
    return 3 if b"opendocument.text" in sample.head or sample.ending in LOADER.endings else 0


LOADER = Loader("OpenDocument text", frozenset((".odt", ".ott")), _certainty, load_odt)
