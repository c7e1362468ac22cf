from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime as ort
import pytest

from app.errors import ModelPullFailed
from app.home import Home
from app.models.export import export_onnx
from app.models.export_int8 import suits_int8
from app.models.manifest import ManifestFile, read_manifest, write_manifest
from app.models.store import ModelStore
from app.settings import ModelStoreSettings
from retrieval.embedders.precision import INT8_NAME


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder with a random two-layer BERT."""
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny")
    config = BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}), encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 32}), encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    return folder


@pytest.mark.timeout(600)  # the import of torch from a cold disk
def test_local_model_is_exported_once_and_left_as_it_was(tiny_model: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tiny_model.rglob("*"))
    store = ModelStore(Home(tmp_path), ModelStoreSettings(embedding_path=tiny_model, offline=True))

    folder = store.pull("mine")
    written_at = (folder / "model.onnx").stat().st_mtime_ns

    assert store.pull("mine") == folder == store.embedding_folder("mine")
    assert (folder / "model.onnx").stat().st_mtime_ns == written_at
    assert (folder / "1_Pooling" / "config.json").is_file()
    assert sorted(path.name for path in tiny_model.rglob("*")) == before
    manifest = read_manifest(folder)
    assert manifest
    assert manifest.export_max_abs_difference is not None
    assert manifest.export_max_abs_difference < 1e-4
    store.verify("mine")

    assert manifest.int8_min_cosine is not None
    assert manifest.int8_min_cosine > 0.97
    int8 = ort.InferenceSession(str(folder / INT8_NAME), providers=["CPUExecutionProvider"])
    ids = np.ones((1, 31), dtype=np.int64)
    assert np.asarray(int8.run(["last_hidden_state"], {"input_ids": ids})[0]).shape == (1, 31, 16)

    session = ort.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    inputs = cast("list[Any]", session.get_inputs())
    assert [value.name for value in inputs] == ["input_ids", "attention_mask", "token_type_ids"]
    for shape in ((1, 2), (7, 31)):
        ids = np.ones(shape, dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": ids, "token_type_ids": np.zeros_like(ids)}
        assert np.asarray(session.run(["last_hidden_state"], feed)[0]).shape == (*shape, 16)


@pytest.mark.timeout(600)  # the import of torch from a cold disk
@pytest.mark.parametrize("before", [{}, {INT8_NAME: ManifestFile(size_bytes=1, sha256="ab")}])
def test_pull_makes_the_int8_variant_that_a_version_before_made_otherwise_or_not(
    tiny_model: Path, tmp_path: Path, before: dict[str, ManifestFile]
) -> None:
    store = ModelStore(Home(tmp_path), ModelStoreSettings(embedding_path=tiny_model, offline=True))
    folder = store.pull("mine")
    whole = read_manifest(folder)
    assert whole
    (folder / INT8_NAME).write_text("-" if before else "", encoding="utf-8")
    files = {name: file for name, file in whole.files.items() if name != INT8_NAME} | before
    write_manifest(folder, whole.model_copy(update={"files": files, "int8_min_cosine": None, "int8_recipe": None}))
    written_at = (folder / "model.onnx").stat().st_mtime_ns

    store.pull("mine")

    assert read_manifest(folder) == whole
    assert (folder / "model.onnx").stat().st_mtime_ns == written_at
    store.verify("mine")


def test_other_architectures_have_no_int8_variant(tmp_path: Path) -> None:
    config = {"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert suits_int8(tmp_path)
    for change in ({"model_type": "mpnet"}, {"hidden_act": "relu"}, {"position_embedding_type": "relative_key"}):
        (tmp_path / "config.json").write_text(json.dumps({**config, **change}), encoding="utf-8")
        assert not suits_int8(tmp_path)


def test_folder_that_is_no_model_fails_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelPullFailed, match="export"):
        export_onnx(tmp_path, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
