"""Small models on disk: a GGUF file and a folder, with heads and weights of a few bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from app.serving.shape import ModelShape

QWEN = {
    "model_type": "qwen2",
    "num_hidden_layers": 28,
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "vocab_size": 151936,
    "max_position_embeddings": 32768,
    "torch_dtype": "bfloat16",
}
"""Sizes of Qwen2.5 with 1.5 billion parameters, as its ``config.json`` has them."""


def write_gguf(
    path: Path, metadata: Mapping[str, int | float | bool | str | list[str]], tensors: Mapping[str, list[int]]
) -> Path:
    """A GGUF file of version 3 whose tensors have a head and no numbers."""
    body = b"".join(_text(key) + _value(value) for key, value in metadata.items())
    for name, dimensions in tensors.items():
        body += _text(name) + struct.pack("<I", len(dimensions))
        body += b"".join(struct.pack("<Q", size) for size in dimensions) + struct.pack("<IQ", 0, 0)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + body)
    return path


def write_model(folder: Path, *, weights_bytes: int = 1000, **changes: object) -> Path:
    """A folder with ``config.json`` and weights that are nothing but their size."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**QWEN, **changes}))
    with (folder / "model.safetensors").open("wb") as weights:
        weights.truncate(weights_bytes)  # takes no room on the disk
    return folder


def qwen_shape(**changes: object) -> ModelShape:
    """Shape of Qwen2.5 with 1.5 billion parameters in bfloat16."""
    sizes: dict[str, object] = {
        "model_type": "qwen2", "layers": 28, "hidden": 1536, "intermediate": 8960, "heads": 12, "kv_heads": 2,
        "head_dim": 128, "vocabulary": 151936, "float_bytes": 2, "weights_bytes": 3_087_428_608, "quantized": False,
        "trained_tokens": 32768, "full_layers": 28,
    }  # fmt: skip
    return ModelShape(**{**sizes, **changes})  # pyright: ignore[reportArgumentType] - tests name its fields


def _value(value: int | float | bool | str | list[str]) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(item) for item in value)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw
