"""Models that a setting names by path: used where they lie, never changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from app.errors import SettingsInvalid
from app.models.export import ONNX_NAME

_GGUF_MAGIC = b"GGUF"
_EMBEDDING_FILES = ("config.json", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json")
_WEIGHT_NAMES = ("model.safetensors", "pytorch_model.bin")


def check_chat_path(path: Path) -> None:
    """Return when ``path`` is a GGUF file by its first bytes.

    Raises:
        SettingsInvalid: It is missing or something else.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise SettingsInvalid(f"models.chat_path {str(path)!r} cannot be read: {error.strerror}.") from error
    if magic != _GGUF_MAGIC:
        raise SettingsInvalid(f"models.chat_path {str(path)!r} is not a GGUF file.")


def check_embedding_path(folder: Path) -> None:
    """Return when ``folder`` is a sentence-transformers model.

    Raises:
        SettingsInvalid: Files of such a model are missing.
    """
    missing = [name for name in _EMBEDDING_FILES if not (folder / name).is_file()]
    if missing:
        raise SettingsInvalid(f"models.embedding_path {str(folder)!r} lacks {', '.join(missing)}.")
    if not has_onnx(folder) and not any((folder / name).is_file() for name in _WEIGHT_NAMES):
        raise SettingsInvalid(f"models.embedding_path {str(folder)!r} has neither {ONNX_NAME} nor model.safetensors.")


def has_onnx(folder: Path) -> bool:
    """Whether the model can be used where it lies."""
    return (folder / ONNX_NAME).is_file()


def weights_path(folder: Path) -> Path:
    """The file that holds the weights of a checked folder."""
    return next(folder / name for name in _WEIGHT_NAMES if (folder / name).is_file())


def export_folder_name(folder: Path) -> str:
    """Name, in the model store, of the ONNX export of a checked folder; another path or other weights get another."""
    weights = weights_path(folder).stat()
    stamp = f"{folder.absolute()}\n{weights.st_size}\n{weights.st_mtime_ns}"
    return "local--" + hashlib.sha256(stamp.encode()).hexdigest()[:16]
