"""The head of a GGUF file: metadata and the sizes of the tensors, read without loading the model.

Format: the GGUF specification of the ggml project, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from app.serving.errors import KnobUnsupported

GgufValue: TypeAlias = int | float | bool | str | tuple[int, int]
"""A value; an array is ``(type of its items, their count)``, since its items are not needed here."""

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_LONGEST_STRING_BYTES = 64 * 1024 * 1024
_MOST_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Metadata by key, and how many numbers all tensors hold together."""

    metadata: Mapping[str, GgufValue]
    parameters: int


def read_gguf_header(path: Path) -> GgufHeader:
    """What stands before the weights.

    Raises:
        KnobUnsupported: The file is no GGUF file, or breaks off in its head.
    """
    with path.open("rb") as file:
        try:
            return _read(file)
        except (struct.error, ValueError) as error:
            raise KnobUnsupported(f"{str(path)!r} is no GGUF file that can be read: {error}.") from error


def _read(file: BinaryIO) -> GgufHeader:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = _unpack(file, "<I")
    if version not in (2, 3):
        raise ValueError(f"its version is {version}, not 2 or 3")
    tensors, pairs = _unpack(file, "<Q"), _unpack(file, "<Q")
    if max(tensors, pairs) > _MOST_ENTRIES:
        raise ValueError(f"it claims {tensors} tensors and {pairs} pairs of metadata")
    metadata = {_read_string(file): _read_value(file, _unpack(file, "<I")) for _ in range(pairs)}
    return GgufHeader(metadata, sum(_read_tensor_size(file) for _ in range(tensors)))


def _read_tensor_size(file: BinaryIO) -> int:
    _read_string(file)
    size = math.prod(_unpack(file, "<Q") for _ in range(_unpack(file, "<I")))
    _unpack(file, "<I")  # type
    _unpack(file, "<Q")  # place
    return size


def _read_value(file: BinaryIO, kind: int) -> GgufValue:
    if kind in _SCALARS:
        return _unpack(file, _SCALARS[kind])
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        item, count = _unpack(file, "<I"), _unpack(file, "<Q")
        _skip_items(file, item, count)
        return item, count
    raise ValueError(f"a value has the unknown type {kind}")


def _skip_items(file: BinaryIO, kind: int, count: int) -> None:
    if kind in _SCALARS:
        file.seek(struct.calcsize(_SCALARS[kind]) * count, 1)
        return
    skip: Callable[[BinaryIO], object] = _read_string if kind == _STRING else lambda it: _read_value(it, kind)
    for _ in range(count):
        skip(file)


def _read_string(file: BinaryIO) -> str:
    length = _unpack(file, "<Q")
    if length > _LONGEST_STRING_BYTES:
        raise ValueError(f"a text claims {length} bytes")
    text = file.read(length)
    if len(text) < length:
        raise ValueError("it breaks off in its head")
    return text.decode("utf-8", errors="replace")


def _unpack(file: BinaryIO, form: str) -> int:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]
