"""Opens the OLE container of old office files and embedded objects; errors of its library become reasons."""

from __future__ import annotations

import io
import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO, Protocol, cast

from ingestion.errors import LoadFailed

_DAMAGED = "The document is damaged or cut off and cannot be read."


class OleProperties(Protocol):
    """What is used of a container's summary: text as bytes in a code page, or as text."""

    codepage: int | None
    title: bytes | str | None
    author: bytes | str | None
    subject: bytes | str | None


class OleContainer(Protocol):
    """What is used of an OLE container, whose library has no types of its own."""

    def exists(self, filename: str) -> bool:
        """Whether there is a stream of that name."""
        ...

    def openstream(self, filename: str) -> BinaryIO:
        """A stream to read."""
        ...

    def get_metadata(self) -> OleProperties:
        """The summary of the document."""
        ...

    def __enter__(self) -> OleContainer: ...

    def __exit__(self, *exception: object) -> None: ...


@contextmanager
def open_ole(data: bytes) -> Generator[OleContainer]:
    """The container of these bytes.

    Raises:
        LoadFailed: ``corrupt`` for a damaged one, also when that shows while it is read.
    """
    import olefile

    try:
        with cast("OleContainer", olefile.OleFileIO(io.BytesIO(data))) as container:
            yield container
    except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise LoadFailed("corrupt", _DAMAGED) from error
