"""The manifest of a model's folder: what every file in it must be. Written last, so its presence means complete."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import ModelHashMismatch
from app.models.catalog import ModelKind, PinnedFile
from app.models.files import FileDigest, OnProgress, PullProgress, digest

MANIFEST_NAME = "manifest.json"


class ManifestFile(BaseModel):
    """Size and SHA-256 of one file."""

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Manifest(BaseModel):
    """``manifest.json``."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: ModelKind
    licence: str
    weights_sha256: str
    """SHA-256 of the weights as published; stays the same when the ONNX export is made again."""
    export_max_abs_difference: float | None = None
    """Largest difference of the ONNX export to torch when it was made."""
    files: dict[str, ManifestFile]
    """By path inside the folder."""


def describe_file(path: Path) -> ManifestFile:
    """Size and SHA-256 of the file at ``path``."""
    found = digest(path)
    return ManifestFile(size_bytes=found.size_bytes, sha256=found.sha256)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of ``folder``, or None when there is none or it cannot be read: then the model is not complete."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST_NAME).read_bytes())
    except (OSError, ValidationError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it in one step."""
    partial = folder / (MANIFEST_NAME + ".part")
    partial.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    partial.replace(folder / MANIFEST_NAME)


def is_whole(folder: Path) -> bool:
    """Whether the manifest is there and every file has its right size; quick, hashes nothing."""
    manifest = read_manifest(folder)
    return manifest is not None and all(
        (folder / path).is_file() and (folder / path).stat().st_size == file.size_bytes
        for path, file in manifest.files.items()
    )


def verify_folder(
    folder: Path, manifest: Manifest, pinned_files: Iterable[PinnedFile], *, on_progress: OnProgress
) -> None:
    """Hash every file of ``folder``, and compare with the manifest; where a file is pinned, with that.

    Raises:
        ModelHashMismatch: A file differs; the manifest is deleted, so that the model counts as incomplete.
    """
    expected = {path: FileDigest(file.size_bytes, file.sha256) for path, file in manifest.files.items()}
    expected |= {file.path: FileDigest(file.size_bytes, file.sha256) for file in pinned_files}
    done_bytes, total_bytes = 0, sum(file.size_bytes for file in expected.values())
    for path, right in expected.items():
        found = digest(folder / path)
        if found != right:
            (folder / MANIFEST_NAME).unlink()
            raise ModelHashMismatch(
                f"{str(folder / path)!r} is damaged: SHA-256 {found.sha256}, right is {right.sha256};"
                f" run 'groundwork models pull {manifest.name}' to mend it."
            )
        done_bytes += found.size_bytes
        on_progress(PullProgress(manifest.name, "verify", done_bytes, total_bytes))
