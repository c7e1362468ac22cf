"""Writes an OLE container ([MS-CFB], version 3) for tests: storages are mappings, streams are bytes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias, Union, cast

Tree: TypeAlias = Mapping[str, Union[bytes, "Tree"]]

_SECTOR = 512
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_LEAST_STREAM = 4096
"""Smaller streams would stand in a stream of streams; they are filled up with NUL instead."""


def build_ole(tree: Tree) -> bytes:
    """The bytes of a container."""
    entries: list[list[object]] = []
    sectors: list[bytes] = []
    chains: list[int] = []

    def allocate(data: bytes) -> int:
        start = len(sectors)
        count = -(-len(data) // _SECTOR)
        for index in range(count):
            sectors.append(data[index * _SECTOR : (index + 1) * _SECTOR].ljust(_SECTOR, b"\0"))
            chains.append(start + index + 1 if index + 1 < count else _END)
        return start

    def add(name: str, value: bytes | Tree, kind: int) -> int:
        index = len(entries)
        entries.append([name, kind, _FREE, _FREE, _END, 0])
        if isinstance(value, bytes):
            data = value.ljust(_LEAST_STREAM, b"\0")
            entries[index][4], entries[index][5] = allocate(data), len(data)
            return index
        children = [add(child, inner, 2 if isinstance(inner, bytes) else 1) for child, inner in value.items()]
        for child, following in pairwise(children):
            entries[child][2] = following
        if children:
            entries[index][3] = children[0]
        return index

    add("Root Entry", tree, 5)
    directory = allocate(b"".join(_entry(entry) for entry in entries))
    fat_count = next(count for count in range(1, 110) if count * 128 >= len(sectors) + count)
    first_fat = len(sectors)
    table = [*chains, *[_FAT] * fat_count]
    table += [_FREE] * (fat_count * 128 - len(table))
    fat = struct.pack(f"<{len(table)}I", *table)
    difat = [*range(first_fat, first_fat + fat_count), *[_FREE] * (109 - fat_count)]
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<9I", 0, fat_count, directory, 0, _LEAST_STREAM, _END, 0, _END, 0)
    return head + struct.pack("<109I", *difat) + b"".join(sectors) + fat


def _entry(entry: list[object]) -> bytes:
    name, kind, right, child, start, size = cast("tuple[str, int, int, int, int, int]", tuple(entry))
    wide = name.encode("utf-16-le") + b"\0\0"
    body = wide.ljust(64, b"\0") + struct.pack("<HBB3I", len(wide), kind, 1, _FREE, right, child)
    return body + bytes(36) + struct.pack("<IQ", start, size)
