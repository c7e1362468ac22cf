"""A real HTTP server with one rerank route, on the loopback, on a free port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep


@contextmanager
def rerank_server(
    answer: Callable[[bytes], bytes], *, status: int = 200, drip_seconds: float = 0.0, key: str | None = None
) -> Generator[str]:
    """The route's address while the context is open.

    Args:
        answer: From the body of a request to the body of the answer.
        status: HTTP status of every answer.
        drip_seconds: Pause before each byte of an answer.
        key: Bearer token without which a request gets status 401.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            allowed = key is None or self.headers.get("Authorization") == f"Bearer {key}"
            content = answer(body) if allowed else b"{}"
            self.send_response(status if allowed else 401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            try:
                for start in range(len(content)) if drip_seconds else ():
                    self.wfile.write(content[start : start + 1])
                    self.wfile.flush()
                    sleep(drip_seconds)
                if not drip_seconds:
                    self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # the name of the standard library
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/rerank"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
