"""The int8 variant of an embedding model, beside its float32 export. Made in a child process, as the export is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from app.models.export import run_export
from retrieval.embedders.precision import INT8_NAME

INT8_RECIPE = 2
"""Raised when the graph changes; a pull then makes the variant again. A change that moves vectors more than another
processor does needs another fingerprint as well (``with_precision``)."""
MIN_COSINE = 0.97
"""Smallest accepted cosine to float32 over random tokens; all-MiniLM-L6-v2 has 0.99."""


class BertConfig(BaseModel):
    """What the int8 graph needs of ``config.json``; a model that differs in a closed field has no int8 variant."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model_type: Literal["bert"]
    hidden_act: Literal["gelu"]
    position_embedding_type: Literal["absolute"] = "absolute"
    num_hidden_layers: int
    num_attention_heads: int
    layer_norm_eps: float


def suits_int8(folder: Path) -> bool:
    """Whether the model in ``folder`` has the architecture that the int8 graph is written for."""
    try:
        BertConfig.model_validate_json((folder / "config.json").read_bytes())
    except (OSError, ValidationError):
        return False
    return True


def export_int8(source: Path, folder: Path) -> float | None:
    """Write the int8 variant of the model in ``source`` into ``folder``, where its float32 export lies.

    Returns:
        Smallest cosine of its vectors to those of float32 on test texts; None when that is less than ``MIN_COSINE``:
        then there is no variant, and the model runs in float32.

    Raises:
        ModelPullFailed: It cannot be written.
    """
    target = folder / INT8_NAME
    cosine = run_export("app.models.export_int8_process", source, target, result="min_cosine")
    if not cosine >= MIN_COSINE:
        target.unlink()
        return None
    return cosine
