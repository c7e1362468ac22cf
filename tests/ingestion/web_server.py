"""A web server of a test: real HTTP on loopback, answers by path."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class WebServer:
    """Where it listens; ``asked`` has each request's path and headers, with the path under ``:path``."""

    port: int
    scheme: str
    answers: dict[str, Answer]
    asked: list[dict[str, str]]

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"


@contextmanager
def serve(*, tls: ssl.SSLContext | None = None) -> Generator[WebServer]:
    answers: dict[str, Answer] = {}
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({":path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            answer = answers.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if "Transfer-Encoding" not in answer.headers:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield WebServer(server.server_address[1], "https" if tls else "http", answers, asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
