from __future__ import annotations

import pytest

from app.serving.dequantize import published_config, published_name
from app.serving.shape import shape_of_config
from tests.serving.test_shape import HEADER


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("output_norm.weight", "model.norm.weight"),
        ("output.weight", "lm_head.weight"),
        ("blk.0.attn_q.bias", "model.layers.0.self_attn.q_proj.bias"),
        ("blk.27.ffn_down.weight", "model.layers.27.mlp.down_proj.weight"),
        ("blk.3.attn_norm.weight", "model.layers.3.input_layernorm.weight"),
    ],
)
def test_tensor_has_the_name_of_the_published_model(name: str, published: str) -> None:
    assert published_name(name) == published


def test_tensor_of_another_kind_of_model_is_refused() -> None:
    with pytest.raises(KeyError):
        published_name("blk.0.ffn_gate_exps.weight")


def test_configuration_says_the_sizes_of_the_header() -> None:
    metadata = {
        **HEADER, "qwen2.attention.layer_norm_rms_epsilon": 1e-6, "tokenizer.ggml.eos_token_id": 2,
    }  # fmt: skip
    config = published_config(metadata, tied=True)
    shape = shape_of_config(config, weights_bytes=None, where="it")
    assert (shape.layers, shape.hidden, shape.kv_heads, shape.head_dim, shape.vocabulary) == (28, 1536, 2, 128, 3)
    assert config["architectures"] == ["Qwen2ForCausalLM"]
    assert config["tie_word_embeddings"] is True
    with pytest.raises(KeyError):
        published_config({**metadata, "general.architecture": "llama"}, tied=True)
