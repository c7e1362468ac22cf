"""Sentence-transformers models as ONNX files on OpenVINO, on CPU, without torch. Knows a folder; downloads nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from retrieval.embedders.onnx_session import OnnxSession, load_session
from retrieval.errors import EmbeddingFailed, ModelFilesMissing
from retrieval.types import FloatMatrix, FloatVector

# Texts tokenised at once: bounds the memory of a long call, yet leaves enough texts to sort by length.
_WINDOW = 1024
_HASH_LENGTH = 12
# Lengths are padded up to a multiple: the runtime keeps a plan for each shape that it has seen. A text alone has few
# shapes, and a question is waited for: 20 tokens take 7.9 ms padded to 20 and 11.3 ms padded to 32, two cores.
_LENGTH_STEP = 16
_QUESTION_STEP = 4
Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class OnnxEmbedder:
    """An ``Embedder`` over one ONNX session; made by ``load_onnx_embedder``.

    Texts of like length share a batch, small enough for the processor's cache and for a question to wait behind. A
    session and a tokenizer may be used from several threads at once; nothing here changes after loading.
    """

    fingerprint: str
    dim: int
    max_tokens: int
    session: OnnxSession
    tokenizer: Tokenizer
    """Cuts at ``max_tokens``."""
    counter: Tokenizer
    """The same tokenizer, never cutting."""
    pooling: Pooling
    lower_case: bool
    batch_tokens: int
    """Tokens in one forward pass, padding included; a longer text makes a batch of its own."""
    folder: Path
    """Where it was loaded from, for other processes that load the same."""

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        """Vectors of passages, shape ``(len(texts), dim)``, in input order; ``(0, dim)`` for no texts."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encodings = self.tokenizer.encode_batch_fast(self._prepared(texts[start : start + _WINDOW]))
            lengths = [_padded(len(encoding), step=_LENGTH_STEP) for encoding in encodings]
            for rows in _batches(lengths, batch_tokens=self.batch_tokens):
                vectors[[start + row for row in rows]] = self._run([encodings[row] for row in rows], step=_LENGTH_STEP)
        return vectors

    def embed_query(self, text: str) -> FloatVector:
        """Vector of one question, shape ``(dim,)``."""
        return self._run(self.tokenizer.encode_batch_fast(self._prepared([text])), step=_QUESTION_STEP)[0]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's own tokens, special tokens not counted, never cut."""
        encodings = self.counter.encode_batch_fast(self._prepared(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def _prepared(self, texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if self.lower_case else list(texts)

    def _run(self, encodings: Sequence[Encoding], *, step: int) -> FloatMatrix:
        inputs = _model_inputs(encodings, step=step)
        output = self.session.run({name: inputs[name] for name in self.session.input_names})
        pooled = output if output.ndim == 2 else _pool(output, inputs["attention_mask"], pooling=self.pooling)
        return pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)


def load_onnx_embedder(folder: Path, *, name: str, threads: int = 0, batch_tokens: int = 2048) -> OnnxEmbedder:
    """An embedder from a model folder; takes about half a second for MiniLM.

    Args:
        folder: Holds ``model.onnx``, ``tokenizer.json``, ``sentence_bert_config.json``, ``1_Pooling/config.json``.
        name: Name of the model, the first part of its fingerprint.
        threads: Threads of one forward pass; 0 takes one per processor.
        batch_tokens: Tokens in one forward pass, padding included; one longer text still makes a batch.

    Raises:
        ModelFilesMissing: A file is missing.
        EmbeddingFailed: A file cannot be read, or the model pools in a way that is not known here.
    """
    for needed in ("model.onnx", "tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        if not (folder / needed).is_file():
            raise ModelFilesMissing(
                f"the embedding model {name!r} lacks {needed!r} in {str(folder)!r}; run `groundwork models pull`"
            )
    transformer = _read_json(folder / "sentence_bert_config.json")
    config = _read_json(folder / "config.json")
    max_tokens = int(transformer.get("max_seq_length") or config["max_position_embeddings"])
    tokenizer, counter = _tokenizer(folder), _tokenizer(folder)
    tokenizer.enable_truncation(max_length=max_tokens)
    return OnnxEmbedder(
        fingerprint=f"{name}@{_weights_hash(folder)}",
        dim=int(config["hidden_size"]),
        max_tokens=max_tokens,
        session=load_session(folder / "model.onnx", threads=threads),
        tokenizer=tokenizer,
        counter=counter,
        pooling=_pooling(folder / "1_Pooling" / "config.json", name=name),
        lower_case=bool(transformer.get("do_lower_case", False)),
        batch_tokens=batch_tokens,
        folder=folder,
    )


def _batches(lengths: Sequence[int], *, batch_tokens: int) -> Iterator[list[int]]:
    """Row numbers in batches of like length, longest first, each within ``batch_tokens`` once padded."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True):
        if batch and lengths[batch[0]] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _padded(length: int, *, step: int) -> int:
    return max(1, -(-length // step)) * step


def _model_inputs(encodings: Sequence[Encoding], *, step: int) -> dict[str, NDArray[np.int64]]:
    longest = _padded(max(len(encoding) for encoding in encodings), step=step)
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = {name: np.zeros((len(encodings), longest), dtype=np.int64) for name in names}
    for row, encoding in enumerate(encodings):
        inputs["input_ids"][row, : len(encoding)] = encoding.ids
        inputs["attention_mask"][row, : len(encoding)] = 1
    return inputs


def _pool(hidden: NDArray[np.float32], mask: NDArray[np.int64], *, pooling: Pooling) -> FloatMatrix:
    """One vector a row from token vectors of shape ``(n, tokens, dim)``."""
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask[:, :, None].astype(np.float32)
    return (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)


def _pooling(path: Path, *, name: str) -> Pooling:
    config = _read_json(path)
    known: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    modes = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    if len(modes) != 1 or modes[0] not in known:
        raise EmbeddingFailed(f"the embedding model {name!r} pools by {modes}; only mean and cls pooling run on ONNX")
    return known[modes[0]]


def _tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _weights_hash(folder: Path) -> str:
    """Short SHA-256 of the weights the vectors come from.

    The published weights are hashed rather than their ONNX export, so a fresh export of the same weights still fits
    an existing store.
    """
    manifest = folder / "manifest.json"
    files = cast("Mapping[str, Mapping[str, str]]", _read_json(manifest)["files"] if manifest.is_file() else {})
    for weights in ("model.safetensors", "model.onnx"):
        if weights in files:
            return files[weights]["sha256"][:_HASH_LENGTH]
    with (folder / "model.onnx").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_HASH_LENGTH]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbeddingFailed(f"cannot read {str(path)!r}; run `groundwork models verify`: {error}") from error
