"""llama.cpp as a server of its own, with the parameters that the embedded one has and those an operator adds.

Run as ``python -m app.serving.llama_process``; the key is in ``VLLM_API_KEY``. Ends on SIGTERM, and with its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from app.model_process import ServeRequest, load_llama_cpp, server_params
from app.model_server import physical_cores

KEY_VARIABLE = "VLLM_API_KEY"
"""One name for both engines."""


def main(argv: Sequence[str] | None = None) -> None:
    """Load the model and serve until somebody ends the process."""
    arguments = _parser().parse_args(argv)
    key = os.environ.get(KEY_VARIABLE, "")
    request = ServeRequest(
        model_path=arguments.model,
        name=arguments.name,
        api_key=key,
        context_tokens=arguments.context_tokens,
        parallel=arguments.parallel,
        threads=arguments.threads or physical_cores(),
        parent_id=os.getppid(),
    )
    xllamacpp = load_llama_cpp()
    params = server_params(xllamacpp, request)
    params.hostnames = [arguments.host]
    params.port = arguments.port
    params.api_keys = [key] if key else []
    params.cache_prompt = not arguments.no_prefix_caching
    if arguments.kv_cache_type:
        params.cache_type_k = params.cache_type_v = _cache_type(xllamacpp, arguments.kv_cache_type)
    if arguments.chat_template:
        with open(arguments.chat_template, encoding="utf-8") as template:  # noqa: PTH123 - a path as it was typed
            params.chat_template = template.read()
    params.lora_adapters = [
        xllamacpp.CommonAdapterLoraInfo(adapter.partition("=")[2] or adapter) for adapter in arguments.lora
    ]
    for pair in arguments.set:
        _set(params, pair)
    signal.signal(signal.SIGTERM, _end)
    server = xllamacpp.Server(params)
    sys.stderr.write(f"llama.cpp listens on {server.listening_address}\n")
    while True:
        signal.pause()


def _end(_number: int, _frame: FrameType | None) -> None:
    # Native threads serve; there is nothing to finish in this one.
    os._exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="llama_process", description="llama.cpp behind an OpenAI-compatible server")
    parser.add_argument("--model", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--context-tokens", type=int, required=True)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--kv-cache-type", default="")
    parser.add_argument("--no-prefix-caching", action="store_true")
    parser.add_argument("--chat-template", default="")
    parser.add_argument("--lora", action="append", default=[])
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    return parser


def _cache_type(xllamacpp: Any, name: str) -> Any:
    kind = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{name.upper()}", None)
    if kind is None:
        sys.exit(f"llama.cpp has no cache of type {name!r}; take f16, q8_0 or q4_0.")
    return kind


def _set(params: Any, pair: str) -> None:
    name, separator, text = pair.partition("=")
    if not separator or not hasattr(params, name):
        sys.exit(f"{pair!r} is not name=value of a parameter of llama.cpp.")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    try:
        setattr(params, name, value)
    except TypeError as error:
        sys.exit(f"The parameter {name!r} of llama.cpp does not take {text!r}: {error}.")


if __name__ == "__main__":
    main()
