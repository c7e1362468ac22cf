"""What all OpenDocument files share: names, encryption, properties."""

from __future__ import annotations

from ingestion.errors import LoadFailed
from ingestion.loaders.office_package import ENCRYPTED, OfficePackage

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
XLINK = "{http://www.w3.org/1999/xlink}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_MANIFEST = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"


def refuse_encrypted(package: OfficePackage) -> None:
    """Raises for an OpenDocument file that asks for a password.

    Raises:
        LoadFailed: ``encrypted``.
    """
    manifest = package.xml("META-INF/manifest.xml")
    if manifest is not None and any(True for _ in manifest.iter(_MANIFEST + "encryption-data")):
        raise LoadFailed("encrypted", ENCRYPTED)


def properties(package: OfficePackage) -> dict[str, str]:
    """Title, author, subject and language as the document's properties say; only those that are filled."""
    root = package.xml("meta.xml")
    meta = root.find(OFFICE + "meta") if root is not None else None
    if meta is None:
        return {}
    fields = {
        "title": _DC + "title",
        "author": _DC + "creator",
        "subject": _DC + "subject",
        "language": _DC + "language",
    }
    found = {key: " ".join((meta.findtext(path) or "").split()) for key, path in fields.items()}
    found["author"] = found["author"] or " ".join((meta.findtext(_META + "initial-creator") or "").split())
    return {key: value for key, value in found.items() if value}
