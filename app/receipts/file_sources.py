"""What became of a receipt's sources, from original files alone: no store, no model, no API.

A document is looked for by the hash of its bytes, then by its name, then by what was quoted from it. Its text is taken
out anew by the loaders that ingestion uses, in processes of their own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from app.receipts.schema import Receipt, SealedDocument
from app.receipts.sources import FoundDocument, FoundSources, find_quote
from ingestion.history import CHILD_MARK
from ingestion.parse_worker import ParseResult, ParseTask
from ingestion.settings import IngestionSettings
from ingestion.sources import Source
from ingestion.workers import ParsePool

MAX_READ_FOR_QUOTES = 200
"""Most files of a document's kind that are read to find one that was renamed and changed."""
_BLOCK = 1024 * 1024


def from_files(places: Sequence[Path], receipt: Receipt, settings: IngestionSettings) -> FoundSources:
    """Every document of a receipt, as the files under these folders hold it.

    Args:
        places: Folders and files.
        receipt: The receipt.
        settings: Limits of parsing; how pictures are read is taken from the receipt where it says so.
    """
    with (
        TemporaryDirectory() as scratch,
        ParsePool(
            workers=1, timeout_seconds=settings.parse_timeout_seconds, memory_bytes=settings.parse_memory_bytes
        ) as pool,
    ):
        shelf = _Shelf(_files(places), pool, _as_then(settings, receipt), Path(scratch))
        documents = [
            shelf.find(document, [entry.quote for entry in receipt.citations if entry.document == place])
            for place, document in enumerate(receipt.documents)
        ]
    return FoundSources("originals", tuple(documents))


@dataclass(slots=True)
class _Shelf:
    files: list[Path]
    pool: ParsePool
    settings: IngestionSettings
    scratch: Path
    parsed: dict[tuple[Path, str], ParseResult] = field(default_factory=dict[tuple[Path, str], ParseResult])
    hashes: dict[Path, str] = field(default_factory=dict[Path, str])

    def find(self, document: SealedDocument, quotes: Sequence[str]) -> FoundDocument:
        """A document as a file holds it now."""
        holder, *inside = document.source.split(CHILD_MARK)
        if inside:
            return self._find_inside(document, holder, inside)
        name = Source(document.source, Path()).name
        path = self._by_hash(document)
        if path is not None:
            return self._found(document, path, name)
        for path in self._by_name(document.source, name):
            return self._found(document, path, path.name)
        path = self._by_quotes(PurePosixPath(name).suffix.lower(), quotes)
        if path is not None:
            return self._found(document, path, path.name)
        return FoundDocument("gone", detail=f"No file holds {document.source}, nor what was quoted from it.")

    def _by_hash(self, document: SealedDocument) -> Path | None:
        if not document.content_sha256:
            return None
        sized = [path for path in self.files if path.stat().st_size == document.size_bytes]
        return next((path for path in sized if self._hash(path) == document.content_sha256), None)

    def _by_name(self, source: str, name: str) -> list[Path]:
        """Files of that name, those first whose folders are most alike."""
        wanted = PurePosixPath(source).parts
        named = [path for path in self.files if path.name == name]
        return sorted(named, key=lambda path: (-_alike(path.parts, wanted), path))

    def _by_quotes(self, ending: str, quotes: Sequence[str]) -> Path | None:
        best, most = None, 0
        for path in [path for path in self.files if path.suffix.lower() == ending][:MAX_READ_FOR_QUOTES]:
            document = self._parse(path, path.name).document
            held = sum(find_quote(document.text, quote, 0) is not None for quote in quotes) if document else 0
            if held > most:
                best, most = path, held
        return best

    def _find_inside(self, document: SealedDocument, holder: str, inside: Sequence[str]) -> FoundDocument:
        """A file inside another one: the outer one by its name, then by the names inside it."""
        path = next(iter(self._by_name(holder, Source(holder, Path()).name)), None)
        for member in inside:
            children = self._parse(path, path.name).children if path is not None else ()
            path = next((child.path for child in children if child.name == member and child.path), None)
        if path is None:
            return FoundDocument("gone", detail=f"No file holds {document.source}.")
        return self._found(document, path, PurePosixPath(inside[-1]).name)

    def _found(self, document: SealedDocument, path: Path, name: str) -> FoundDocument:
        result = self._parse(path, name)
        if result.document is None:
            detail = f"{path.as_posix()} cannot be read. {result.detail}"
            return FoundDocument("unreadable", found=path.as_posix(), sha256=result.sha256, detail=detail)
        same = result.sha256 == document.content_sha256
        return FoundDocument("unchanged" if same else "changed", result.document.text, path.as_posix(), result.sha256)

    def _parse(self, path: Path, name: str) -> ParseResult:
        key = path, name
        if key not in self.parsed:
            spill = self.scratch / str(len(self.parsed))
            task = ParseTask(path, name, self.settings.max_file_bytes, self.settings.load_options(), spill)
            self.parsed[key] = self.pool.submit(task).result()
        return self.parsed[key]

    def _hash(self, path: Path) -> str:
        if path not in self.hashes:
            with path.open("rb") as file:
                self.hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self.hashes[path]


def _files(places: Sequence[Path]) -> list[Path]:
    return sorted({path for place in places for path in _under(place)})


def _under(place: Path) -> Iterator[Path]:
    """Regular files at or below a place; links to folders are not followed."""
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder) / name
            if path.is_file():
                yield path


def _alike(parts: Sequence[str], wanted: Sequence[str]) -> int:
    """How many of the last parts of two paths are the same."""
    count = 0
    for one, other in zip(reversed(parts), reversed(wanted), strict=False):
        if one != other:
            break
        count += 1
    return count


def _as_then(settings: IngestionSettings, receipt: Receipt) -> IngestionSettings:
    """The settings with what shaped the text when it was ingested."""
    then = receipt.making.settings.get("ingestion", {}) if receipt.making else {}
    kept = {name: then[name] for name in ("ocr", "ocr_languages") if name in then}
    return IngestionSettings.model_validate(settings.model_dump() | kept)
