"""A small model of the catalog and the wheels it travels in."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.models.catalog import CatalogModel, PinnedFile, WheelMember
from app.models.sources import SourceFailed

PARTS = (b"GGUF" + b"a" * 96, b"b" * 100, b"c" * 50)
WEIGHTS = b"".join(PARTS)
NOTES = b"read me"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _member(distribution: str, data: bytes) -> WheelMember:
    return WheelMember(distribution, "1.0", f"{distribution}/data.bin", len(data), sha256(data))


SMALL_MODEL = CatalogModel(
    name="small",
    kind="chat",
    licence="Apache-2.0",
    repository="someone/small",
    weights="small.gguf",
    files=(
        PinnedFile(
            path="small.gguf",
            size_bytes=len(WEIGHTS),
            sha256=sha256(WEIGHTS),
            mirror=tuple(_member(f"part{number}", data) for number, data in enumerate(PARTS, start=1)),
        ),
        PinnedFile(
            path="notes/notes.txt", size_bytes=len(NOTES), sha256=sha256(NOTES), mirror=(_member("notes", NOTES),)
        ),
    ),
)
WHEELS: Mapping[str, bytes] = {"part1": PARTS[0], "part2": PARTS[1], "part3": PARTS[2], "notes": NOTES}


@dataclass
class WheelShelf:
    """Hands out wheels and counts; a distribution it does not have cannot be downloaded."""

    wheels: dict[str, bytes] = field(default_factory=lambda: dict(WHEELS))
    handed_out: list[str] = field(default_factory=list[str])

    def download(self, distribution: str, version: str, folder: Path) -> Path:
        if distribution not in self.wheels:
            raise SourceFailed(f"no wheel {distribution}")
        self.handed_out.append(distribution)
        path = folder / f"{distribution}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{distribution}/data.bin", self.wheels[distribution])
        return path
