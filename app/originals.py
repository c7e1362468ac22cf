"""The bytes a document was made of, as long as they can still be had: what page pictures are drawn from.

A file of this machine is read where it stands; of an upload, a PDF is kept under its hash. Either is used only while
its hash is the ledger's, so that a picture never shows another version than the text.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from app.errors import OriginalMissing
from ingestion.types import DocumentRecord

PDF = "application/pdf"
_BLOCK = 1024 * 1024


class Originals:
    """Kept files in one folder, named by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, paths: Iterable[Path]) -> None:
        """Keep the PDFs among uploaded files; the same bytes are kept once."""
        for path in paths:
            with path.open("rb") as file:
                if b"%PDF-" not in file.read(1024):
                    continue
                file.seek(0)
                target = self._folder / hashlib.file_digest(file, "sha256").hexdigest()
            if target.exists():
                continue
            self._folder.mkdir(parents=True, exist_ok=True)
            partial = target.with_suffix(f".{os.getpid()}.part")
            shutil.copyfile(path, partial)
            partial.replace(target)

    def read(self, record: DocumentRecord) -> bytes:
        """The bytes of a PDF.

        Raises:
            OriginalMissing: It is no PDF, or its file is gone or another one now.
        """
        if record.media_type != PDF:
            raise OriginalMissing("The document is no PDF, so it has no pages to draw.")
        for path in (self._folder / record.content_sha256, Path(record.source)):
            if path.is_absolute() and path.is_file():
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() == record.content_sha256:
                    return data
        raise OriginalMissing("The file that this document was made of is gone or has changed; ingest it again.")

    def forget(self, gone: Iterable[DocumentRecord], *, kept: Iterable[DocumentRecord]) -> None:
        """Forget the files of documents that are gone, unless another document was made of the same bytes."""
        for sha256 in {record.content_sha256 for record in gone} - {record.content_sha256 for record in kept}:
            if sha256:
                (self._folder / sha256).unlink(missing_ok=True)

    def prune(self, kept: Iterable[DocumentRecord]) -> None:
        """Forget every file that no document was made of; while nothing is being uploaded, at the start."""
        hashes = {record.content_sha256 for record in kept}
        for path in self._folder.glob("*"):
            if path.name not in hashes:
                path.unlink(missing_ok=True)
