from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedders.onnx import load_onnx_embedder
from retrieval.errors import EmbeddingFailed, ModelFilesMissing

MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture
def folder(model_home: Path) -> Path:
    return model_home / "models" / MODEL.replace("/", "--")


@pytest.fixture
def small_copy(folder: Path, tmp_path: Path) -> Path:
    """The model folder without its weights."""
    for name in ("tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "model.onnx").symlink_to(folder / "model.onnx")
    return tmp_path


@pytest.mark.model
@pytest.mark.timeout(600)  # the import of torch from a cold disk
@pytest.mark.filterwarnings("ignore")  # torch and transformers warn of themselves
def test_vectors_are_those_of_sentence_transformers(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer  # heavy: only here is it needed

    texts = [
        "Why did my pod restart?",
        "OOMKilled " * 400,
        "",
        "Ünïcode 漢字",
        "A limit is a ceiling, a request a floor.",
    ]
    theirs = np.asarray(SentenceTransformer(str(folder), device="cpu").encode(texts, normalize_embeddings=True))
    ours = load_onnx_embedder(folder, name=MODEL).embed_documents(texts)
    assert np.einsum("ij,ij->i", theirs, ours).min() > 0.9999


@pytest.mark.model
def test_the_fingerprint_names_the_published_weights(folder: Path) -> None:
    assert load_onnx_embedder(folder, name=MODEL).fingerprint == f"{MODEL}@53aa51172d14"


@pytest.mark.model
def test_threads_that_embed_at_once_get_the_vectors_of_their_texts(folder: Path) -> None:
    embedder = load_onnx_embedder(folder, name=MODEL, batch_tokens=600)
    texts = [f"Pod {number} was restarted. " * (number % 7 + 1) for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = np.stack(list(pool.map(embedder.embed_query, texts)))
    assert np.einsum("ij,ij->i", embedder.embed_documents(texts), found).min() > 0.9999


@pytest.mark.model
def test_a_folder_without_manifest_is_named_by_the_weights_it_runs(small_copy: Path) -> None:
    (small_copy / "manifest.json").write_text(
        json.dumps({"files": {"model.onnx": {"sha256": "ab" * 32}}}), encoding="utf-8"
    )
    assert load_onnx_embedder(small_copy, name="small").fingerprint == "small@abababababab"
    (small_copy / "manifest.json").unlink()
    assert load_onnx_embedder(small_copy, name="small").fingerprint != "small@abababababab"


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesMissing, match=r"'model\.onnx'.*groundwork models pull"):
        load_onnx_embedder(tmp_path, name=MODEL)


@pytest.mark.model
def test_damaged_weights_are_an_error_that_names_the_file(small_copy: Path) -> None:
    (small_copy / "model.onnx").unlink()
    (small_copy / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbeddingFailed, match=r"model\.onnx.*groundwork models verify"):
        load_onnx_embedder(small_copy, name=MODEL)


@pytest.mark.model
def test_damaged_configuration_is_an_error_that_names_the_file(small_copy: Path) -> None:
    (small_copy / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(EmbeddingFailed, match=r"config\.json.*groundwork models verify"):
        load_onnx_embedder(small_copy, name=MODEL)


@pytest.mark.model
def test_a_pooling_that_is_not_known_is_refused(small_copy: Path) -> None:
    pooling = {"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": True}
    (small_copy / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    with pytest.raises(EmbeddingFailed, match="pools by"):
        load_onnx_embedder(small_copy, name=MODEL)
