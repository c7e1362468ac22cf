"""Size of a model that is named on the model hub: from its cache on this machine, else its small files are fetched.

Nothing of the weights is downloaded here.
"""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from huggingface_hub import file_download, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from app.models.hub import REACH_TIMEOUT_SECONDS
from app.serving.shape import ModelShape, shape_of_config

_NO_ANSWER = (OSError, httpx.HTTPError, HfHubHTTPError, LocalEntryNotFoundError, ValueError)


def hub_shape(name: str, *, offline: bool) -> ModelShape | None:
    """Shape of the model; None when the hub cannot be asked and holds nothing of it on this machine.

    Raises:
        KnobUnsupported: Its ``config.json`` does not say what is needed.
    """
    path = _small_file(name, "config.json", offline=offline)
    if path is None:
        return None
    config = json.loads(path.read_text(encoding="utf-8"))
    return shape_of_config(
        config, weights_bytes=_weights_bytes(name, offline=offline), where=f"config.json of {name!r}"
    )


def _weights_bytes(name: str, *, offline: bool) -> int | None:
    index = _small_file(name, "model.safetensors.index.json", offline=offline)
    if index is not None:
        return int(json.loads(index.read_text(encoding="utf-8"))["metadata"]["total_size"])
    whole = _small_file(name, "model.safetensors", offline=True)
    if whole is not None:
        return whole.stat().st_size
    if offline:
        return None
    try:
        return file_download.get_hf_file_metadata(
            hf_hub_url(name, "model.safetensors"), timeout=REACH_TIMEOUT_SECONDS
        ).size
    except _NO_ANSWER:
        return None


def _small_file(name: str, filename: str, *, offline: bool) -> Path | None:
    try:
        return Path(
            file_download.hf_hub_download(name, filename, local_files_only=offline, etag_timeout=REACH_TIMEOUT_SECONDS)
        )
    except _NO_ANSWER:
        return None
