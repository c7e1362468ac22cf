"""Weights that vLLM can read, made once from a GGUF file, by the engine's own Python (``dequantize.py``)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from app.serving.errors import EngineMissing
from app.serving.model_source import ServedModel

SCRIPT = Path(__file__).with_name("dequantize.py")


def make_weights(model: ServedModel, python: Path, *, say: Callable[[str], None], log_path: Path) -> None:
    """Write the weights out, where the model needs it; whole or not at all.

    Args:
        model: What is served.
        python: Interpreter of the engine's environment.
        say: Gets one sentence.
        log_path: File that the script's output is appended to.

    Raises:
        EngineMissing: The weights could not be written.
    """
    if model.made_from is None:
        return
    folder = Path(model.argument)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    say(f"Writing the weights of {model.made_from.name} out in bfloat16, once, to {folder}.")
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("ab") as log:
        done = subprocess.run(
            [str(python), str(SCRIPT), str(model.made_from), str(partial)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False,
        )  # fmt: skip
    if done.returncode:
        shutil.rmtree(partial, ignore_errors=True)
        raise EngineMissing(f"The weights of {str(model.made_from)!r} could not be written out; see {log_path}.")
    partial.replace(folder)
