"""The forward pass of BERT as an ONNX graph with int8 weights. Knows weights and shapes, no files.

Products of tokens and weights run in int8, with one scale per column of the weights and one per text for what flows
through; embeddings, layer norms, attention scores and the activation stay in float32. The graph has no mask: all rows
of a batch are of one length, so that attention takes the runtime's fused kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from app.models.export_int8 import BertConfig

OPSET = 18
_IR_VERSION = 10
_RUNTIME = "com.microsoft"
_LARGEST = 127

Weights = Mapping[str, NDArray[np.float32]]
"""Parameters by name."""


def build_int8_graph(weights: Weights, config: BertConfig) -> onnx.ModelProto:
    """The model with input ``input_ids`` (int64, batch x sequence) and output ``last_hidden_state``.

    Args:
        weights: Of a BERT without heads, by the names of the transformers library.
        config: Shape of the model.

    Raises:
        KeyError: A weight is missing.
    """
    graph = _Graph(weights, config)
    hidden = graph.embeddings()
    for layer in range(config.num_hidden_layers):
        hidden = graph.layer(f"encoder.layer.{layer}", hidden)
    graph.add("Identity", [hidden], "last_hidden_state")
    axes = ["batch", "sequence"]
    width = weights["embeddings.word_embeddings.weight"].shape[1]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert-int8",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, axes)],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*axes, width])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(_RUNTIME, 1)],
        ir_version=_IR_VERSION,
    )


@dataclass(slots=True)
class _Graph:
    weights: Weights
    config: BertConfig
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])

    def embeddings(self) -> str:
        """Words, places and the first token type, normalised."""
        weights = self.weights
        places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        words = self._constant("words", weights["embeddings.word_embeddings.weight"])
        self.add("Gather", [words, "input_ids"], "words_of_ids")
        self.add("Shape", ["input_ids"], "length", start=1, end=2)
        zero = self._constant("zero", np.zeros(1, np.int64))
        self.add("Slice", [self._constant("places", places), zero, "length", zero], "places_of_ids")
        self.add("Add", ["words_of_ids", "places_of_ids"], "embedded")
        return self._normalised("embedded", "embeddings.LayerNorm")

    def layer(self, name: str, hidden: str) -> str:
        """One encoder layer; returns the name of its output."""
        queries, keys, values = f"{name}.queries", f"{name}.keys", f"{name}.values"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        joined = self._product(hidden, parts, f"{name}.joined")
        self.nodes.append(helper.make_node("Split", [joined], [queries, keys, values], axis=2, num_outputs=3))
        attended = self.add(
            "MultiHeadAttention",
            [queries, keys, values],
            f"{name}.attended",
            domain=_RUNTIME,
            num_heads=self.config.num_attention_heads,
        )
        attended = self._product(attended, [f"{name}.attention.output.dense"], f"{name}.attended.out")
        hidden = self._add_and_norm(attended, hidden, f"{name}.attention.output.LayerNorm")
        inner = self._product(hidden, [f"{name}.intermediate.dense"], f"{name}.inner")
        inner = self.add("Gelu", [inner], f"{name}.activated", domain=_RUNTIME)
        inner = self._product(inner, [f"{name}.output.dense"], f"{name}.inner.out")
        return self._add_and_norm(inner, hidden, f"{name}.output.LayerNorm")

    def add(self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        """Append a node with one output; returns its name."""
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _product(self, hidden: str, parts: list[str], output: str) -> str:
        """``hidden`` times the weights of linear parts side by side, plus their biases."""
        matrix = np.concatenate([self.weights[f"{part}.weight"].T for part in parts], axis=1)
        # A column of zeros has no scale of its own.
        scales = np.maximum(np.abs(matrix).max(axis=0), np.finfo(np.float32).tiny * _LARGEST) / np.float32(_LARGEST)
        inputs = [
            hidden,
            self._constant(f"{output}.weight", np.rint(matrix / scales).astype(np.int8)),
            self._constant(f"{output}.scales", scales.astype(np.float32)),
            "",
            self._constant(f"{output}.bias", np.concatenate([self.weights[f"{part}.bias"] for part in parts])),
        ]
        return self.add("DynamicQuantizeMatMul", inputs, output, domain=_RUNTIME)

    def _add_and_norm(self, change: str, hidden: str, norm: str) -> str:
        # Not the runtime's SkipLayerNormalization, which takes five times as long as these two.
        changed = self.add("Add", [change, hidden], f"{norm}.sum")
        return self._normalised(changed, norm)

    def _normalised(self, hidden: str, name: str) -> str:
        parts = [self._constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        epsilon = self.config.layer_norm_eps
        return self.add("LayerNormalization", [hidden, *parts], name, axis=-1, epsilon=epsilon)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name
