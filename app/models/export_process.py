"""Child process of the ONNX export: ``python -m app.models.export_process FOLDER TARGET``.

The last line on stdout is ``{"max_abs_difference": ...}``; a failure is the last line on stderr and status 1.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import openvino
import torch
from transformers import AutoModel

OPSET = 18
TOLERANCE = 1e-4
"""Largest accepted difference to torch; fp32 exports of MiniLM differ by 1e-5."""
MAX_BATCH = 65_536
_TEST_SHAPES = ((1, 2), (1, 12), (5, 33), (3, 256))
_SEED = 20
_PADDED_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""Architectures whose first position comes after the padding token's id, so that many positions are never used."""


class _Transformer(torch.nn.Module):
    """The forward pass with positional inputs, as the exporter wants them."""

    def __init__(self, model: torch.nn.Module, input_names: tuple[str, ...]) -> None:
        super().__init__()
        self.model = model
        self.input_names = input_names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.model(**dict(zip(self.input_names, inputs, strict=True))).last_hidden_state


def export(folder: Path, target: Path) -> float:
    """Export, compare with torch, and move the file to its place; returns the largest absolute difference."""
    # Eager attention exports to plain matrix products, which run 25 % faster than the sdpa export.
    load = cast("Callable[..., Any]", AutoModel.from_pretrained)
    model = load(folder, attn_implementation="eager", local_files_only=True).float()
    types = int(getattr(model.config, "type_vocab_size", 0) or 0)
    names = ("input_ids", "attention_mask") + (("token_type_ids",) if types > 1 else ())
    wrapper = _Transformer(model, names).eval()
    partial = target.with_name(target.name + ".part")
    axes = {0: torch.export.Dim("batch", max=MAX_BATCH), 1: torch.export.Dim("sequence", max=_max_tokens(model.config))}
    torch.onnx.export(
        wrapper,
        _inputs((2, 16), model.config, len(names)),
        str(partial),
        input_names=list(names),
        output_names=["last_hidden_state"],
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
        dynamic_shapes=(tuple(axes for _ in names),),
        verbose=False,
    )
    difference = _compare(wrapper, partial, model.config)
    if not difference <= TOLERANCE:
        partial.unlink()
        raise ValueError(f"the export differs from torch by {difference:.2g}, accepted are {TOLERANCE}")
    partial.replace(target)
    return difference


def _max_tokens(config: Any) -> int:
    positions = int(config.max_position_embeddings)
    return positions - int(config.pad_token_id) - 1 if config.model_type in _PADDED_POSITIONS else positions


def _inputs(shape: tuple[int, int], config: Any, count: int) -> tuple[torch.Tensor, ...]:
    """Random token ids, the second half of every odd row masked, one token type."""
    generator = torch.Generator().manual_seed(_SEED)
    ids = torch.randint(1, int(config.vocab_size), shape, generator=generator)
    mask = torch.ones_like(ids)
    mask[1::2, max(1, shape[1] // 2) :] = 0
    return (ids, mask, torch.zeros_like(ids))[:count]


def _compare(wrapper: _Transformer, path: Path, config: Any) -> float:
    session = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    largest = 0.0
    for rows, columns in _TEST_SHAPES:
        inputs = _inputs((rows, min(columns, _max_tokens(config))), config, len(wrapper.input_names))
        with torch.inference_mode():
            expected = wrapper(*inputs).numpy()
        feed = {name: value.numpy() for name, value in zip(wrapper.input_names, inputs, strict=True)}
        found = np.asarray(session(feed)[0])
        kept = inputs[1].numpy() == 1
        largest = max(largest, float(np.abs(found - expected)[kept].max()))
    return largest


def main(arguments: list[str]) -> int:
    """Run the export; the exit status."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    folder, target = (Path(argument) for argument in arguments)
    difference = export(folder, target)
    sys.stdout.write(json.dumps({"max_abs_difference": difference}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
