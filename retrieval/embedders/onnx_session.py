"""One ONNX Runtime session behind types: the library ships none. Knows tensors, no text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import (  # the binary module has no stubs
    onnxruntime_pybind11_state,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
)

from retrieval.errors import EmbeddingFailed

# Every status of the runtime is an exception class of its own, without a common base.
_STATUS_NAMES = (
    "EPFail",
    "EngineError",
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "NoModel",
    "NotImplemented",
    "RuntimeException",
)
_STATUS_ERRORS: tuple[type[Exception], ...] = tuple(
    cast("type[Exception]", getattr(cast("object", onnxruntime_pybind11_state), name)) for name in _STATUS_NAMES
)
# The runtime fuses an addition and a layer norm into one operator that takes five times as long as the two.
_SLOW_FUSIONS = ["SkipLayerNormFusion"]


class OnnxSession:
    """Runs one model. Safe to call from several threads."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.input_names: tuple[str, ...] = tuple(str(node.name) for node in session.get_inputs())

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """The model's first output.

        Raises:
            EmbeddingFailed: The runtime refused the inputs or failed.
        """
        try:
            return self._session.run(None, dict(inputs))[0]
        except _STATUS_ERRORS as error:
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error


def load_session(path: Path) -> OnnxSession:
    """A session on the CPU; each run takes the thread of its caller.

    Raises:
        EmbeddingFailed: The file is no model that the runtime can load.
    """
    options = cast("Any", onnxruntime).SessionOptions()
    options.intra_op_num_threads = 1
    # Plans are kept per input shape, and every batch has another shape: 220 MB for nothing.
    options.enable_mem_pattern = False
    # Signed int8 weights saturate on processors without VNNI; there, and only there, they become unsigned.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOW_FUSIONS
        )
        return OnnxSession(session)
    except _STATUS_ERRORS as error:
        raise EmbeddingFailed(f"cannot load {str(path)!r}; run `groundwork models verify`: {error}") from error
