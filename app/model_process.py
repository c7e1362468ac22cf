"""Child process of the embedded model server: llama.cpp behind its own OpenAI-compatible HTTP server.

The parent writes one line of JSON (``ServeRequest``) to stdin and keeps it open; the child answers with one line
``{"base_url": ...}`` on stdout when the model is loaded. It ends when its parent does: the kernel sends SIGKILL, and
where that is not to be had, the end of stdin says so. Everything that llama.cpp prints goes to stderr.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from typing import Any, TextIO, cast

_PR_SET_PDEATHSIG = 1
"""prctl(2)."""
BATCH_TOKENS = 8
"""Tokens in one step, at least one for each request at once. A request that nobody waits for ends at the end of the
step after: with llama.cpp's own 2,048 a 1,500-token prompt was read to its end, with 16 it took up to 1.2 s."""
MICRO_BATCH_TOKENS = 4
"""Tokens computed together within a short step. Two times 4 are read faster than 8 at once (docs/models.md)."""
PROMPT_CACHE_MIB = 1024
"""Main memory for prompts of earlier requests; a prompt of 1,500 tokens of the default model takes about 41 MiB."""


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """What the parent asks for."""

    model_path: str
    name: str
    api_key: str
    context_tokens: int
    parallel: int
    threads: int
    parent_id: int
    """Process id of the parent; the child ends at once when its parent is another by then."""
    batch_tokens: int = BATCH_TOKENS
    """Tokens of one step."""


def main() -> None:
    """Serve until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    answers = _keep_stdout_for_answers()
    request = ServeRequest(**json.loads(sys.stdin.readline()))
    if os.getppid() != request.parent_id:
        os._exit(0)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    serve(request, answers)


def serve(request: ServeRequest, answers: TextIO) -> None:
    """Load the model, say where it listens, and serve for ever."""
    xllamacpp = load_llama_cpp()
    params = server_params(xllamacpp, request)
    params.port = 0
    params.api_keys = [request.api_key]
    server = xllamacpp.Server(params)
    answers.write(json.dumps({"base_url": f"{server.listening_address}/v1"}) + "\n")
    answers.flush()
    while True:
        signal.pause()


def load_llama_cpp() -> Any:
    """The library: 100 MB of native code that the parent of a server does not need. It has no types."""
    return cast("Any", importlib.import_module("xllamacpp"))


def server_params(xllamacpp: Any, request: ServeRequest) -> Any:
    """Parameters of a server of this project, on loopback; port and keys are left to the caller."""
    params = xllamacpp.CommonParams()
    params.model.path = request.model_path
    params.model_alias = {request.name}
    params.n_ctx = request.context_tokens * request.parallel
    params.n_parallel = request.parallel
    params.cpuparams.n_threads = request.threads
    params.cpuparams_batch.n_threads = request.threads
    params.n_batch = max(request.batch_tokens, request.parallel)
    params.n_ubatch = MICRO_BATCH_TOKENS if request.batch_tokens < 2 * BATCH_TOKENS else request.batch_tokens
    # Repacked weights: a private copy of most of them, 600 MB here, without which steps as short are slow.
    params.no_extra_bufts = False
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.endpoint_metrics = True
    params.ui = False
    params.offline = True
    return params


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_stdout_for_answers() -> TextIO:
    """Stdout as it was; file descriptor 1 goes to stderr from now on, native code included."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _end_with_stdin() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
