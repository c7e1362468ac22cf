from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.errors import ModelHashMismatch
from app.models.files import PullProgress
from app.models.hub import fetch_from_hub
from app.models.sources import SourceFailed
from tests.app.model_files import NOTES, SMALL_MODEL, WEIGHTS, sha256


@dataclass
class Hub:
    """A hub on loopback, as far as its client library asks."""

    endpoint: str = ""
    files: dict[str, bytes] = field(default_factory=lambda: {"small.gguf": WEIGHTS, "notes/notes.txt": NOTES})


@pytest.fixture
def hub() -> Generator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _answer(self, *, with_body: bool) -> None:
            data = hub.files.get(self.path.partition("/resolve/main/")[2])
            self.send_response(200 if data else 404)
            data = data or b""
            self.send_header("ETag", f'"{sha256(data)}"')
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if with_body:
                self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield hub
        server.shutdown()
        thread.join()


def test_files_come_from_the_hub_with_progress(hub: Hub, tmp_path: Path) -> None:
    progress: list[PullProgress] = []

    fetch_from_hub(SMALL_MODEL, tmp_path, progress.append, endpoint=hub.endpoint)

    assert (tmp_path / "small.gguf").read_bytes() == WEIGHTS
    assert (tmp_path / "notes" / "notes.txt").read_bytes() == NOTES
    assert progress[-1] == PullProgress("small", "hub", SMALL_MODEL.size_bytes, SMALL_MODEL.size_bytes)
    assert max(step.done_bytes for step in progress) == SMALL_MODEL.size_bytes


def test_other_content_on_the_hub_is_refused_by_name(hub: Hub, tmp_path: Path) -> None:
    hub.files["small.gguf"] = b"x" * len(WEIGHTS)

    with pytest.raises(ModelHashMismatch, match=r"small\.gguf"):
        fetch_from_hub(SMALL_MODEL, tmp_path, lambda _: None, endpoint=hub.endpoint)
    assert not (tmp_path / "small.gguf").exists()


def test_file_that_the_hub_lacks_fails_the_source(hub: Hub, tmp_path: Path) -> None:
    del hub.files["notes/notes.txt"]

    with pytest.raises(SourceFailed, match=r"notes\.txt"):
        fetch_from_hub(SMALL_MODEL, tmp_path, lambda _: None, endpoint=hub.endpoint)


def test_unreachable_hub_fails_the_source(tmp_path: Path, unused_tcp_port: int) -> None:
    with pytest.raises(SourceFailed, match="cannot be reached"):
        fetch_from_hub(SMALL_MODEL, tmp_path, lambda _: None, endpoint=f"http://127.0.0.1:{unused_tcp_port}")


def test_hub_switched_off_is_not_asked(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    with pytest.raises(SourceFailed, match="HF_HUB_OFFLINE"):
        fetch_from_hub(SMALL_MODEL, tmp_path, lambda _: None, endpoint=hub.endpoint)
    assert list(tmp_path.iterdir()) == []
