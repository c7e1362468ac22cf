"""The command line and the environment of a model server, composed from settings. Starts nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.serving.errors import KnobUnsupported
from app.serving.families import Parsers
from app.serving.settings import DeviceKind, ServingSettings

LLAMA_MODULE = "app.serving.llama_process"
_NO_LLAMA = {
    "tensor_parallel_size": 1,
    "pipeline_parallel_size": 1,
    "data_parallel_size": 1,
    "speculative": None,
    "quantization": "",
    "max_num_queued_reqs": None,
    "max_num_queued_tokens": None,
}
"""Knobs that llama.cpp does not have here, and the value that leaves them alone."""


@dataclass(frozen=True, slots=True)
class Command:
    """Program and arguments, and what its environment holds beside ours; keys are in the environment alone."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Launch:
    """What is decided before the command is written down.

    Attributes:
        settings: The knobs.
        model: Folder, file or name on the hub.
        port: A port that is free.
        device: What vLLM computes on.
        parsers: Parsers of vLLM.
        cpu_cache_gib: Memory of vLLM's cache on a CPU.
    """

    settings: ServingSettings
    model: str
    port: int
    device: DeviceKind
    parsers: Parsers
    cpu_cache_gib: int


def vllm_command(python: Path, launch: Launch) -> Command:
    """How vLLM is started: its module, since its own script is not in every build."""
    settings = launch.settings
    argv = [str(python), "-m", "vllm.entrypoints.openai.api_server"]
    argv += ["--model", launch.model, "--served-model-name", settings.served_name]
    argv += ["--host", settings.host, "--port", str(launch.port)]
    argv += ["--max-model-len", str(settings.max_model_len), "--max-num-seqs", str(settings.max_num_seqs)]
    argv += ["--max-num-batched-tokens", str(settings.max_num_batched_tokens)]
    argv += _parser_flags(launch)
    argv += _type_flags(launch)
    argv += _cache_flags(launch)
    argv += _adapter_flags(settings)
    argv += _parallel_flags(settings)
    argv += _admission_flags(settings)
    return Command((*argv, *settings.extra_args), _vllm_environ(launch))


def llama_command(launch: Launch) -> Command:
    """How llama.cpp is started, in this application's own environment.

    Raises:
        KnobUnsupported: A knob is set that it does not have.
    """
    settings = launch.settings
    for name, neutral in _NO_LLAMA.items():
        if getattr(settings, name) != neutral:
            raise KnobUnsupported(f"llama.cpp has no {name!r} here; leave serving.{name} out, or use --engine vllm.")
    argv = [sys.executable, "-m", LLAMA_MODULE, "--model", launch.model, "--name", settings.served_name]
    argv += ["--host", settings.host, "--port", str(launch.port), "--context-tokens", str(settings.max_model_len)]
    argv += ["--parallel", str(settings.max_num_seqs), "--threads", str(settings.threads)]
    if settings.kv_cache_dtype != "auto":
        argv += ["--kv-cache-type", settings.kv_cache_dtype]
    if not settings.prefix_caching:
        argv += ["--no-prefix-caching"]
    if settings.chat_template:
        argv += ["--chat-template", settings.chat_template]
    for adapter in settings.lora_adapters:
        argv += ["--lora", adapter]
    for pair in settings.extra_args:
        argv += ["--set", pair]
    return Command(tuple(argv), _key_environ(settings))


def _parser_flags(launch: Launch) -> list[str]:
    settings, parsers = launch.settings, launch.parsers
    flags: list[str] = []
    if parsers.tool_call_parser:
        flags += ["--enable-auto-tool-choice", "--tool-call-parser", parsers.tool_call_parser]
        flags += ["--tool-strict-level", settings.tool_strict_level]
    if parsers.reasoning_parser:
        flags += ["--reasoning-parser", parsers.reasoning_parser]
    if settings.chat_template:
        flags += ["--chat-template", settings.chat_template]
    return flags


def _type_flags(launch: Launch) -> list[str]:
    settings = launch.settings
    flags = ["--dtype", settings.dtype]
    if settings.quantization:
        flags += ["--quantization", settings.quantization]
    if settings.enforce_eager or launch.device == "cpu":
        flags.append("--enforce-eager")
    return flags


def _cache_flags(launch: Launch) -> list[str]:
    settings = launch.settings
    flags = ["--enable-prefix-caching" if settings.prefix_caching else "--no-enable-prefix-caching"]
    # Without it the API shows no cached tokens.
    flags.append("--enable-prompt-tokens-details")
    if settings.kv_cache_dtype != "auto":
        flags += ["--kv-cache-dtype", settings.kv_cache_dtype]
    if launch.device == "gpu":
        flags += ["--gpu-memory-utilization", f"{settings.gpu_memory_utilization:g}"]
    return flags


def _adapter_flags(settings: ServingSettings) -> list[str]:
    flags: list[str] = []
    if settings.lora_adapters:
        flags += ["--enable-lora", "--max-lora-rank", str(settings.max_lora_rank)]
        flags += ["--max-loras", str(len(settings.lora_adapters)), "--lora-modules", *settings.lora_adapters]
    if settings.speculative:
        flags += ["--speculative-config", json.dumps(settings.speculative.model_dump(exclude_none=True))]
    return flags


def _parallel_flags(settings: ServingSettings) -> list[str]:
    sizes = {
        "--tensor-parallel-size": settings.tensor_parallel_size,
        "--pipeline-parallel-size": settings.pipeline_parallel_size,
        "--data-parallel-size": settings.data_parallel_size,
    }
    return [word for flag, size in sizes.items() if size > 1 for word in (flag, str(size))]


def _admission_flags(settings: ServingSettings) -> list[str]:
    limits = {
        "--max-num-queued-reqs": settings.max_num_queued_reqs,
        "--max-num-queued-tokens": settings.max_num_queued_tokens,
    }
    return [word for flag, limit in limits.items() if limit is not None for word in (flag, str(limit))]


def _vllm_environ(launch: Launch) -> dict[str, str]:
    environ = {"VLLM_NO_USAGE_STATS": "1", **_key_environ(launch.settings)}
    if launch.device == "cpu":
        environ["VLLM_CPU_KVCACHE_SPACE"] = str(launch.cpu_cache_gib)
        environ["VLLM_CPU_OMP_THREADS_BIND"] = launch.settings.cpu_threads_bind
    return environ


def _key_environ(settings: ServingSettings) -> dict[str, str]:
    return {"VLLM_API_KEY": settings.api_key.get_secret_value()} if settings.api_key else {}
