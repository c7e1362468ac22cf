from __future__ import annotations

from pathlib import Path

import pytest

from app.serving.errors import KnobUnsupported
from app.serving.gguf_header import read_gguf_header
from app.serving.shape import read_shape, shape_of_config
from tests.serving.models import QWEN, qwen_shape, write_gguf, write_model

HEADER = {
    "general.architecture": "qwen2",
    "qwen2.block_count": 28,
    "qwen2.embedding_length": 1536,
    "qwen2.feed_forward_length": 8960,
    "qwen2.attention.head_count": 12,
    "qwen2.attention.head_count_kv": 2,
    "qwen2.context_length": 32768,
    "qwen2.rope.freq_base": 1e6,
    "general.file_type": 15,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.ggml.tokens": ["a", "b", "c"],
}


def test_folder_says_its_shape(tmp_path: Path) -> None:
    assert read_shape(write_model(tmp_path / "m", weights_bytes=3_087_428_608)) == qwen_shape()


def test_header_of_a_gguf_file_says_its_shape_and_its_parameters(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", HEADER, {"token_embd.weight": [1536, 3], "output_norm.weight": [1536]})
    shape = read_shape(path)
    assert shape == qwen_shape(
        vocabulary=3, weights_bytes=path.stat().st_size, quantized=True, parameters=1536 * 3 + 1536
    )


def test_cut_off_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "m.gguf", HEADER, {}).read_bytes()
    for cut in range(0, len(whole), 7):
        (tmp_path / "cut.gguf").write_bytes(whole[:cut])
        with pytest.raises(KnobUnsupported, match="is no GGUF file that can be read"):
            read_gguf_header(tmp_path / "cut.gguf")
    (tmp_path / "huge.gguf").write_bytes(b"GGUF" + b"\x03\0\0\0" + b"\xff" * 16)
    with pytest.raises(KnobUnsupported, match="claims"):
        read_gguf_header(tmp_path / "huge.gguf")


def test_header_without_sizes_is_refused_by_name(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", {"general.architecture": "qwen2"}, {})
    with pytest.raises(KnobUnsupported, match=r"does not say qwen2\.block_count"):
        read_shape(path)


def test_window_layers_are_counted_apart() -> None:
    config = {**QWEN, "layer_types": ["sliding_attention", "full_attention"] * 14, "sliding_window": 128}
    shape = shape_of_config(config, weights_bytes=1, where="it")
    assert (shape.full_layers, shape.window_layers, shape.window) == (14, 14, 128)


def test_layers_with_a_fixed_state_are_not_counted_as_full() -> None:
    config = {**QWEN, "layer_types": ["linear_attention"] * 21 + ["full_attention"] * 7}
    assert shape_of_config(config, weights_bytes=1, where="it").full_layers == 7


def test_model_that_sees_says_its_sizes_below_text_config() -> None:
    config = {"model_type": "qwen3_5", "text_config": {**QWEN, "model_type": "qwen3_5_text"}}
    shape = shape_of_config(config, weights_bytes=None, where="it")
    assert (shape.model_type, shape.layers, shape.weights_bytes) == ("qwen3_5", 28, None)


def test_latent_attention_keeps_one_vector_a_token() -> None:
    shape = shape_of_config({**QWEN, "kv_lora_rank": 512, "qk_rope_head_dim": 64}, weights_bytes=1, where="it")
    assert shape.latent == 576


def test_config_without_sizes_is_refused_by_name(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text('{"model_type": "x"}')
    with pytest.raises(KnobUnsupported, match="num_hidden_layers"):
        read_shape(folder)
    (folder / "config.json").unlink()
    with pytest.raises(KnobUnsupported, match=r"has no config\.json"):
        read_shape(folder)
