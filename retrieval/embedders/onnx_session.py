"""One ONNX model on OpenVINO behind types: the library ships few. Knows tensors, no text."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import openvino
from numpy.typing import NDArray

from retrieval.errors import EmbeddingFailed


class OnnxSession:
    """Runs one model. Safe to call from several threads, which take turns: each run uses every thread it was given."""

    def __init__(self, compiled: Any) -> None:
        self._request = compiled.create_infer_request()
        self._lock = threading.Lock()
        self.input_names: tuple[str, ...] = tuple(str(port.get_any_name()) for port in compiled.inputs)

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """The model's first output.

        Raises:
            EmbeddingFailed: The runtime refused the inputs or failed.
        """
        try:
            with self._lock:
                return self._request.infer(dict(inputs))[0]
        except RuntimeError as error:
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error


def load_session(path: Path, *, threads: int = 0) -> OnnxSession:
    """A session on the CPU.

    It runs in bfloat16 where the processor has that (AMX, AVX-512 BF16), as far as the runtime holds it safe, else in
    float32. MiniLM's vectors of both have a cosine of 0.99997 or more.

    Args:
        path: The ONNX file.
        threads: Threads of one run; 0 takes one per processor.

    Raises:
        EmbeddingFailed: The file is no model that the runtime can load.
    """
    core = cast("Any", openvino).Core()
    has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    # One stream: with two, runs that met on their first shapes waited for each other without end.
    options = {
        "INFERENCE_PRECISION_HINT": "bf16" if has_bf16 else "f32",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads or len(os.sched_getaffinity(0)),
        "ENABLE_CPU_PINNING": False,
    }
    try:
        return OnnxSession(core.compile_model(core.read_model(path), "CPU", options))
    except RuntimeError as error:
        raise EmbeddingFailed(f"cannot load {str(path)!r}; run `groundwork models verify`: {error}") from error
