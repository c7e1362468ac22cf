from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.errors import ModelPullFailed
from app.home import Home
from app.models.export import export_onnx
from app.models.manifest import read_manifest
from app.models.store import ModelStore
from app.settings import ModelStoreSettings
from retrieval.embedders.onnx_session import load_session


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

    session = load_session(folder / "model.onnx")
    assert session.input_names == ("input_ids", "attention_mask", "token_type_ids")
    for shape in ((1, 2), (7, 31)):
        ids = np.ones(shape, dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": ids, "token_type_ids": np.zeros_like(ids)}
        assert session.run(feed).shape == (*shape, 16)


def test_folder_that_is_no_model_fails_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelPullFailed, match="export"):
        export_onnx(tmp_path, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
