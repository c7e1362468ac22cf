"""The last steps of a pull: scraps go, an embedding model gets its ONNX files, the manifest is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from app.models.catalog import CatalogModel
from app.models.export import ONNX_NAME, export_onnx
from app.models.files import OnProgress, PullProgress
from app.models.hub import HUB_FOLDER
from app.models.local import weights_path
from app.models.manifest import (
    MANIFEST_NAME,
    Manifest,
    ManifestFile,
    describe_file,
    write_manifest,
)
from app.models.wheels import PART_SUFFIX, WHEELS_FOLDER

_CONFIGURATION = ("*.json", "*.txt", "1_Pooling/*.json")


def finish_pinned(model: CatalogModel, folder: Path, on_progress: OnProgress) -> None:
    """Complete a folder in which every pinned file has come and was accepted."""
    for scrap in (HUB_FOLDER, WHEELS_FOLDER):
        shutil.rmtree(folder / scrap, ignore_errors=True)
    for part in folder.rglob("*" + PART_SUFFIX):
        part.unlink()
    files = {file.path: ManifestFile(size_bytes=file.size_bytes, sha256=file.sha256) for file in model.files}
    difference: float | None = None
    if model.kind == "embedding":
        on_progress(PullProgress(model.name, "export", model.size_bytes, model.size_bytes))
        difference = export_onnx(folder, folder / ONNX_NAME)
        files[ONNX_NAME] = describe_file(folder / ONNX_NAME)
    manifest = Manifest(
        name=model.name,
        kind=model.kind,
        licence=model.licence,
        weights_sha256=files[model.weights].sha256,
        export_max_abs_difference=difference,
        files=files,
    )
    write_manifest(folder, manifest)


def finish_local(source: Path, name: str, folder: Path, on_progress: OnProgress) -> None:
    """Fill ``folder`` with the ONNX export of the local model ``source`` and a copy of its small files."""
    weights = describe_file(weights_path(source))
    on_progress(PullProgress(name, "export", 0, weights.size_bytes))
    for pattern in _CONFIGURATION:
        for path in source.glob(pattern):
            if path.name != MANIFEST_NAME:
                target = folder / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    difference = export_onnx(source, folder / ONNX_NAME)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    manifest = Manifest(
        name=name,
        kind="embedding",
        licence="unknown",
        weights_sha256=weights.sha256,
        export_max_abs_difference=difference,
        files={path.relative_to(folder).as_posix(): describe_file(path) for path in paths},
    )
    write_manifest(folder, manifest)
    on_progress(PullProgress(name, "export", weights.size_bytes, weights.size_bytes))
