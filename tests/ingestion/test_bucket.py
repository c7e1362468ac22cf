"""Buckets against a server on loopback that answers the two calls of S3 that are used: list and get."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

from ingestion.remote import RemoteFetch, discover_remote
from ingestion.settings import RemoteSettings

pytest.importorskip("s3fs", reason="the extra s3 is not installed")

OBJECTS = {
    "docs/a.md": b"# Limits",
    "docs/deep/b c.md": b"# Probes",
    "docs/deep/draft.tmp": b"no",
    "docs/.hidden/x.md": b"no",
    "docs/large.bin": b"x" * 2000,
    "docsets/z.md": b"another folder",
}


@contextmanager
def bucket() -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            _, name, key = unquote(parts.path).split("/", 2) if parts.path.count("/") > 1 else ("", parts.path[1:], "")
            if name != "store":
                self._answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
            elif not key:
                self._answer(200, listing(parse_qs(parts.query).get("prefix", [""])[0]))
            elif key in OBJECTS:
                self._answer(200, OBJECTS[key])
            else:
                self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Tue, 02 Jan 2024 00:00:00 GMT")
            self.send_header("ETag", '"1"')
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def listing(prefix: str) -> bytes:
    entries = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size><ETag>1</ETag>"
        "<LastModified>2024-01-02T00:00:00Z</LastModified></Contents>"
        for key, body in OBJECTS.items()
        if key.startswith(prefix)
    )
    return (
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>store</Name>'
        f"<IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
    ).encode()


@pytest.fixture
def how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[RemoteFetch]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with bucket() as endpoint:
        settings = RemoteSettings(s3_endpoint_url=endpoint)
        yield RemoteFetch(tmp_path / "fetched", settings, max_file_bytes=1000, exclude=("*.tmp",))


async def test_objects_under_a_folder_become_files_within_the_limits(how: RemoteFetch) -> None:
    discovery = await discover_remote(["s3://store/docs"], how)

    assert {source.source: source.path.read_bytes() for source in discovery} == {
        "s3://store/docs/a.md": b"# Limits",
        "s3://store/docs/deep/b c.md": b"# Probes",
    }
    assert [(failure.source, failure.reason) for failure in discovery.failures] == [
        ("s3://store/docs/large.bin", "too_large")
    ]
    assert discovery.may_prune("s3://store/docs/old.md")
    assert not discovery.may_prune("s3://store/docsets/z.md")


async def test_missing_bucket_is_not_found_and_nothing_is_pruned(how: RemoteFetch) -> None:
    discovery = await discover_remote(["s3://other/docs"], how)

    assert [failure.reason for failure in discovery.failures] == ["not_found"]
    assert not discovery.may_prune("s3://other/docs/old.md")
