"""Child process that writes int8 weights: ``python -m app.models.export_int8_process FOLDER TARGET``.

Beside the target lies ``model.onnx``, the float32 export that it is compared with. The last line on stdout is
``{"min_cosine": ...}``; a failure is the last line on stderr and status 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from safetensors import numpy as safetensors_numpy

from app.models.export_int8 import BertConfig
from app.models.export_int8_graph import Weights, build_int8_graph

_TEST_LENGTHS = (2, 12, 33, 64, 200)
_SEED = 20
_PREFIX = "bert."


def write(folder: Path, target: Path) -> float:
    """Write the int8 model to ``target``; returns the smallest cosine of its mean vectors to float32."""
    config_text = (folder / "config.json").read_text(encoding="utf-8")
    weights = _weights(folder)
    model = build_int8_graph(weights, BertConfig.model_validate_json(config_text))
    partial = target.with_name(target.name + ".part")
    onnx.save(model, str(partial))
    words, places = (weights[f"embeddings.{name}_embeddings.weight"].shape[0] for name in ("word", "position"))
    cosine = _compare(target.with_name("model.onnx"), partial, words=words, places=places)
    partial.replace(target)
    return cosine


def _weights(folder: Path) -> Weights:
    path = folder / "model.safetensors"
    load = cast("Callable[[str], dict[str, Any]]", safetensors_numpy.load_file)
    found = load(str(path)) if path.is_file() else _from_torch(folder / "pytorch_model.bin")
    return {name.removeprefix(_PREFIX): np.asarray(value, dtype=np.float32) for name, value in found.items()}


def _from_torch(path: Path) -> dict[str, Any]:
    import torch

    state = cast("dict[str, torch.Tensor]", torch.load(str(path), map_location="cpu", weights_only=True))
    return {name: value.float().numpy() for name, value in state.items()}


def _compare(reference: Path, path: Path, *, words: int, places: int) -> float:
    generator = np.random.default_rng(_SEED)
    smallest = 1.0
    right, found = (ort.InferenceSession(str(model), providers=["CPUExecutionProvider"]) for model in (reference, path))
    names = [str(value.name) for value in cast("list[Any]", right.get_inputs())]
    for length in _TEST_LENGTHS:
        ids = generator.integers(1, words, (1, min(length, places)))
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        expected = _mean(right.run(["last_hidden_state"], {name: inputs[name] for name in names})[0])
        smallest = min(smallest, float(expected @ _mean(found.run(["last_hidden_state"], {"input_ids": ids})[0])))
    return smallest


def _mean(hidden: Any) -> NDArray[np.float32]:
    vector = np.asarray(hidden, dtype=np.float32)[0].mean(axis=0)
    return vector / np.linalg.norm(vector)


def main(arguments: list[str]) -> int:
    """Write the model; the exit status."""
    folder, target = (Path(argument) for argument in arguments)
    sys.stdout.write(json.dumps({"min_cosine": write(folder, target)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
