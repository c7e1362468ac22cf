"""ONNX exports of an embedding model. They run in child processes, so that the memory of torch goes with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import app
from app.errors import ModelPullFailed

EXPORT_TIMEOUT_SECONDS = 600.0
ONNX_NAME = "model.onnx"


def export_onnx(folder: Path, target: Path) -> float:
    """Write the transformer of the sentence-transformers model in ``folder`` to ``target``.

    The file has the inputs ``input_ids``, ``attention_mask`` and, where the model has them, ``token_type_ids`` (int64,
    batch x sequence), and the output ``last_hidden_state``.

    Returns:
        Largest absolute difference to torch on test batches; at most ``export_process.TOLERANCE``.

    Raises:
        ModelPullFailed: The model cannot be loaded, exported, or differs from torch.
    """
    return run_export("app.models.export_process", folder, target, result="max_abs_difference")


def run_export(module: str, folder: Path, target: Path, *, result: str) -> float:
    """Run a child process that writes ``target`` from the model in ``folder``; one field of the JSON that it prints.

    Raises:
        ModelPullFailed: It failed or took too long.
    """
    # The working folder comes first on the child's path, so that no other package named "app" can win.
    command = [sys.executable, "-m", module, str(folder.absolute()), str(target.absolute())]
    root = Path(str(app.__file__)).absolute().parents[1]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=EXPORT_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ModelPullFailed(
            f"The ONNX export of {str(folder)!r} took over {EXPORT_TIMEOUT_SECONDS:.0f} s."
        ) from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise ModelPullFailed(f"The ONNX export of {str(folder)!r} failed: {lines[-1]}")
    return float(json.loads(done.stdout.splitlines()[-1])[result])
