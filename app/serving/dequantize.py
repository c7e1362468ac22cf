"""Writes the weights of a GGUF file out in bfloat16, as a folder that vLLM reads.

Run by the Python of an engine's environment, as ``python dequantize.py MODEL.gguf FOLDER``; it needs ``gguf``, torch,
safetensors and transformers, and nothing of this application. Knows the families whose tensors map one to one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

ARCHITECTURES = {"qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
"""``general.architecture`` of the file, and the class that the model has in transformers."""
_OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_INNER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_BLOCK = re.compile(r"blk\.(\d+)\.(\w+)\.(weight|bias)")


def published_name(name: str) -> str:
    """Name that a tensor of a GGUF file has in the published model.

    Raises:
        KeyError: The tensor is none of a dense Qwen model.
    """
    block = _BLOCK.fullmatch(name)
    if block is None:
        return _OUTER[name]
    return f"model.layers.{block[1]}.{_INNER[block[2]]}.{block[3]}"


def published_config(metadata: Mapping[str, Any], *, tied: bool) -> dict[str, Any]:
    """``config.json`` by the metadata of the file; ``tied`` where it has no output matrix of its own.

    Raises:
        KeyError: The architecture is unknown, or a size is missing.
    """
    kind = str(metadata["general.architecture"])
    heads = int(metadata[f"{kind}.attention.head_count"])
    hidden = int(metadata[f"{kind}.embedding_length"])
    return {
        "architectures": [ARCHITECTURES[kind]],
        "model_type": kind,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": int(metadata[f"{kind}.feed_forward_length"]),
        "num_hidden_layers": int(metadata[f"{kind}.block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(metadata[f"{kind}.attention.head_count_kv"]),
        "head_dim": int(metadata.get(f"{kind}.attention.key_length", hidden // heads)),
        "max_position_embeddings": int(metadata[f"{kind}.context_length"]),
        "rms_norm_eps": float(metadata[f"{kind}.attention.layer_norm_rms_epsilon"]),
        "rope_theta": float(metadata[f"{kind}.rope.freq_base"]),
        "vocab_size": len(metadata["tokenizer.ggml.tokens"]),
        "bos_token_id": metadata.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": metadata["tokenizer.ggml.eos_token_id"],
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
    }


def write_out(source: Path, folder: Path) -> None:
    """Write weights, configuration and tokenizer of ``source`` into an existing folder.

    Raises:
        KeyError: The file holds another kind of model.
    """
    # They are in the engine's environment alone, so nothing of them is known here.
    gguf, torch = _untyped("gguf"), _untyped("torch")
    reader = gguf.GGUFReader(str(source))
    metadata = {name: field.contents() for name, field in reader.fields.items()}
    names = {tensor.name: published_name(tensor.name) for tensor in reader.tensors}
    config = published_config(metadata, tied="output.weight" not in names)
    tensors = {
        names[tensor.name]: torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type)).to(torch.bfloat16)
        for tensor in reader.tensors
    }
    _untyped("safetensors.torch").save_file(tensors, str(folder / "model.safetensors"), {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    tokenizer = _untyped("transformers").AutoTokenizer.from_pretrained(str(source.parent), gguf_file=source.name)
    tokenizer.chat_template = metadata["tokenizer.chat_template"]
    tokenizer.save_pretrained(str(folder))
    sys.stderr.write(f"{len(tensors)} tensors of {source.name} are written out to {folder}\n")


def _untyped(name: str) -> Any:
    return cast("Any", importlib.import_module(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the weights of a GGUF file out in bfloat16.")
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    write_out(given.source, given.folder)
