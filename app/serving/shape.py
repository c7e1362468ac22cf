"""What a model's own files say of its size: from ``config.json`` and safetensors, or from a GGUF header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from app.serving.errors import KnobUnsupported
from app.serving.gguf_header import GgufValue, read_gguf_header

_FLOAT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "half": 2, "float": 4, "float8_e4m3fn": 1}


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes that memory depends on.

    Attributes:
        model_type: As in ``config.json``; the architecture of a GGUF file.
        layers: Decoder layers.
        hidden: Width between the layers.
        intermediate: Width inside a layer's feed-forward part (of one expert, where there are experts).
        heads: Heads of attention.
        kv_heads: Heads whose keys and values are kept.
        head_dim: Width of one head.
        vocabulary: Tokens the model knows.
        float_bytes: Bytes of one number in the type the weights were published in.
        weights_bytes: Size of the weights on disk; None when they are not on this machine.
        quantized: Whether the files hold quantized weights.
        trained_tokens: Longest context it was made for; 0 when that is not said.
        full_layers: Layers that keep every token.
        window_layers: Layers that keep the last ``window`` tokens.
        window: Tokens of those layers.
        parameters: Numbers in all tensors; 0 when that is not known.
        latent: Numbers kept for a token in one layer where the cache is compressed (multi-head latent attention);
            None where keys and values are kept as they are.
    """

    model_type: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    float_bytes: int
    weights_bytes: int | None
    quantized: bool
    trained_tokens: int
    full_layers: int
    window_layers: int = 0
    window: int = 0
    parameters: int = 0
    latent: int | None = None


def read_shape(path: Path) -> ModelShape:
    """Shape of the model in a folder, or of a GGUF file.

    Raises:
        KnobUnsupported: There is no ``config.json``, or it or the header does not say what is needed.
    """
    return _from_gguf(path) if path.is_file() else _from_folder(path)


def shape_of_config(config: Mapping[str, Any], *, weights_bytes: int | None, where: str) -> ModelShape:
    """Shape by a parsed ``config.json``; models that see keep the part that writes under ``text_config``.

    Raises:
        KnobUnsupported: A size is missing.
    """
    text: Mapping[str, Any] = {**config, **cast("Mapping[str, Any]", config.get("text_config") or {})}
    try:
        layers, hidden, heads = (int(text[key]) for key in ("num_hidden_layers", "hidden_size", "num_attention_heads"))
        vocabulary = int(text["vocab_size"])
    except (KeyError, TypeError, ValueError) as error:
        raise KnobUnsupported(f"{where} does not say {error}, so the memory cannot be estimated.") from error
    kinds = cast("list[str]", text.get("layer_types") or [])
    window = int(text.get("sliding_window") or 0)
    windowed = kinds.count("sliding_attention") if window else 0
    full = sum(kind in ("full_attention", "attention") for kind in kinds) if kinds else layers
    latent = text.get("kv_lora_rank")
    return ModelShape(
        model_type=str(config.get("model_type") or ""),
        layers=layers,
        hidden=hidden,
        intermediate=int(text.get("moe_intermediate_size") or text.get("intermediate_size") or 4 * hidden),
        heads=heads,
        kv_heads=int(text.get("num_key_value_heads") or heads),
        head_dim=int(text.get("head_dim") or hidden // heads),
        vocabulary=vocabulary,
        float_bytes=_FLOAT_BYTES.get(str(text.get("dtype") or text.get("torch_dtype") or "bfloat16"), 2),
        weights_bytes=weights_bytes,
        quantized="quantization_config" in config or "compression_config" in config,
        trained_tokens=int(text.get("max_position_embeddings") or 0),
        full_layers=full if windowed or full else layers,
        window_layers=windowed,
        window=window,
        latent=int(latent) + int(text.get("qk_rope_head_dim") or 0) if latent else None,
    )


def _from_folder(folder: Path) -> ModelShape:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise KnobUnsupported(f"{str(folder)!r} has no config.json; give the folder of a model.") from error
    except ValueError as error:
        raise KnobUnsupported(f"{str(path)!r} is no JSON: {error}.") from error
    sizes = [file.stat().st_size for file in folder.glob("*.safetensors")]
    return shape_of_config(config, weights_bytes=sum(sizes) or None, where=repr(str(path)))


def _from_gguf(path: Path) -> ModelShape:
    header = read_gguf_header(path)
    metadata = header.metadata
    kind = str(metadata.get("general.architecture", ""))

    def number(key: str, otherwise: int | None = None) -> int:
        value = metadata.get(f"{kind}.{key}", otherwise)
        if not isinstance(value, int):
            raise KnobUnsupported(f"The header of {str(path)!r} does not say {kind}.{key}.")
        return value

    layers, hidden, heads = number("block_count"), number("embedding_length"), number("attention.head_count")
    return ModelShape(
        model_type=kind,
        layers=layers,
        hidden=hidden,
        intermediate=number("feed_forward_length", 4 * hidden),
        heads=heads,
        kv_heads=number("attention.head_count_kv", heads),
        head_dim=number("attention.key_length", hidden // heads),
        vocabulary=_vocabulary(metadata, kind),
        float_bytes=2,
        weights_bytes=path.stat().st_size,
        quantized=True,
        trained_tokens=number("context_length", 0),
        full_layers=layers,
        parameters=header.parameters,
    )


def _vocabulary(metadata: Mapping[str, GgufValue], kind: str) -> int:
    tokens = metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, tuple):
        return tokens[1]
    value = metadata.get(f"{kind}.vocab_size", 0)
    return value if isinstance(value, int) else 0
