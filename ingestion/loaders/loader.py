"""What a format gives the registry: how its bytes are told, and what is made of them.

A format is one file of this folder with a ``LOADER`` and one test. Loaders import their libraries inside functions,
so that a process that reads one format does not pay for all.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Literal, TypeAlias

from ingestion.loaders.encoding import peek
from ingestion.types import FailureReason, ParsedDocument

OcrMode: TypeAlias = Literal["auto", "always", "never"]
"""``auto`` reads pictures and pages without a text layer, ``always`` reads every page, ``never`` reports them."""

Certainty: TypeAlias = Literal[0, 1, 2, 3]
"""How sure a loader is of a file: 0 not mine, 1 by its ending alone, 2 the content looks like it, 3 by a signature."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Choices that shape what loaders make of bytes; part of a document's recipe.

    Attributes:
        ocr: When text is read from pictures.
        ocr_languages: Languages of the recognition in tesseract's codes, joined by ``+``.
        max_children: Most files taken out of one holder (archive, mail), those inside inner holders counted.
        max_children_bytes: Most bytes of all files taken out of one holder, unpacked.
        max_depth: Holders inside holders.
    """

    ocr: OcrMode = "auto"
    ocr_languages: str = "eng"
    max_children: int = 10_000
    max_children_bytes: int = 512 * 1024 * 1024
    max_depth: int = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """A file as loaders look at it to tell whether it is theirs.

    Attributes:
        data: The whole file.
        name: Its name, without folders.
    """

    data: bytes = field(repr=False)
    name: str

    @property
    def head(self) -> bytes:
        """The first kibibyte."""
        return self.data[:1024]

    @cached_property
    def text(self) -> str:
        """The first 4096 bytes as text whose ASCII is right, to look for marks in; other letters may be wrong."""
        return peek(self.data)

    @cached_property
    def zip_names(self) -> frozenset[str]:
        """Names of the entries of a zip; empty for all else, and for a zip whose directory is damaged."""
        if not self.data.startswith(b"PK"):
            return frozenset()
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                return frozenset(archive.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return frozenset()

    @property
    def ending(self) -> str:
        """The ending of the name, with its dot, lower case; empty without one."""
        return PurePath(self.name).suffix.lower()


@dataclass(frozen=True, slots=True)
class ChildFile:
    """A file inside another one: an attachment of a mail or PDF, a member of an archive.

    Attributes:
        name: Its path inside the holder, ``/`` between folders; never absolute, no ``..``.
        data: Its bytes; empty for one that failed.
        reason: Why it cannot be read; None for one that can.
        detail: One sentence for a person, with the reason.
    """

    name: str
    data: bytes = field(repr=False)
    reason: FailureReason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What is in a file: a document, files of its own, or both. An archive is children alone."""

    document: ParsedDocument | None
    children: tuple[ChildFile, ...] = ()


LoadFunction: TypeAlias = Callable[[bytes, str, LoadOptions], ParsedDocument | Loaded]
"""Bytes, name, options. Raises ``LoadFailed`` with the reason for which the file cannot become text."""


@dataclass(frozen=True, slots=True)
class Loader:
    """One format family.

    Attributes:
        family: Name of the family for people, ``PDF`` for example.
        endings: Endings of its files, with their dots, lower case.
        certainty: How sure it is that a file is of this family; the surest loader gets the file.
        load: Makes text of it.
    """

    family: str
    endings: frozenset[str]
    certainty: Callable[[Sample], Certainty]
    load: LoadFunction
