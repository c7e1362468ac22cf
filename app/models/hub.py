"""The model hub, through its own client library: it knows the user's mirror, token and offline switch."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from huggingface_hub import file_download, hf_hub_url
from huggingface_hub.constants import is_offline_mode
from huggingface_hub.errors import EntryNotFoundError, FileMetadataError, HfHubHTTPError, XetDownloadError
from huggingface_hub.utils.tqdm import tqdm

from app.models.catalog import CatalogModel, PinnedFile
from app.models.files import OnProgress, PullProgress, disk_errors
from app.models.sources import SourceFailed, accept, is_complete

logger = logging.getLogger(__name__)

REACH_TIMEOUT_SECONDS = 4.0
"""Longest wait for a first sign of the hub, so that a machine without it loses seconds, not minutes."""
HUB_FOLDER = ".hub"
_BROKEN_OFF = (
    httpx.HTTPError,
    ConnectionError,
    TimeoutError,
    HfHubHTTPError,
    EntryNotFoundError,
    FileMetadataError,
    XetDownloadError,
)


def fetch_from_hub(model: CatalogModel, folder: Path, on_progress: OnProgress, *, endpoint: str | None = None) -> None:
    """Bring every missing file of ``model`` into ``folder``; broken-off downloads are resumed.

    Args:
        model: What to fetch.
        folder: Where its files go.
        on_progress: Called with bytes done.
        endpoint: Address of the hub; None is what the hub's library is configured for.

    Raises:
        SourceFailed: The hub is switched off, unreachable, or broke off.
        ModelHashMismatch: The hub holds something else than what is pinned; it is deleted.
        HomeUnwritable: The disk is full.
    """
    if is_offline_mode():
        raise SourceFailed("the hub is switched off by HF_HUB_OFFLINE")
    _reach(hf_hub_url(model.repository, model.files[0].path, endpoint=endpoint))
    done_bytes = 0
    with disk_errors(folder):
        for file in model.files:
            target = folder / file.path
            if not is_complete(target, file):
                report = _reporter(model, done_bytes, on_progress)
                downloaded = _download(model, file, folder / HUB_FOLDER, report=report, endpoint=endpoint)
                accept(downloaded, target, file, origin="the model hub")
            done_bytes += file.size_bytes
            on_progress(PullProgress(model.name, "hub", done_bytes, model.size_bytes))
        shutil.rmtree(folder / HUB_FOLDER, ignore_errors=True)


def _reach(url: str) -> None:
    try:
        response = httpx.head(url, timeout=REACH_TIMEOUT_SECONDS)
    except httpx.HTTPError as error:
        raise SourceFailed(f"the hub cannot be reached ({type(error).__name__})") from error
    if response.status_code >= httpx.codes.BAD_REQUEST:
        raise SourceFailed(f"the hub answered with status {response.status_code}")


def _download(
    model: CatalogModel, file: PinnedFile, folder: Path, *, report: Callable[[float], None], endpoint: str | None
) -> Path:
    try:
        return Path(
            file_download.hf_hub_download(
                model.repository,
                file.path,
                local_dir=folder,
                endpoint=endpoint,
                etag_timeout=REACH_TIMEOUT_SECONDS,
                tqdm_class=_silent_bar(report),
            )
        )
    except _BROKEN_OFF as error:
        raise SourceFailed(f"the hub broke off at {file.path!r} ({type(error).__name__})") from error


def _reporter(model: CatalogModel, before_bytes: int, on_progress: OnProgress) -> Callable[[float], None]:
    done_bytes = float(before_bytes)

    def report(more_bytes: float) -> None:
        nonlocal done_bytes
        done_bytes += more_bytes
        on_progress(PullProgress(model.name, "hub", int(done_bytes), model.size_bytes))

    return report


def _silent_bar(report: Callable[[float], None]) -> type[tqdm]:
    """A progress bar that draws nothing and reports bytes; the hub's library takes progress in no other form."""

    class SilentBar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})
            report(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> None:
            report(n or 0)

    return SilentBar
