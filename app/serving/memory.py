"""Does a model fit: weights, key-value cache and reserves, each with its arithmetic in words.

Pure arithmetic over a model's shape, an operator's settings and a machine; no files, no processes. Sizes are GiB, as
the tools of GPUs count. What stands beside weights and cache are reserves; docs/models.md says what was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from app.model_process import BATCH_TOKENS, PROMPT_CACHE_MIB
from app.serving.machine import Machine
from app.serving.settings import DeviceKind, ServingSettings
from app.serving.shape import ModelShape

MIB = 1024**2
GIB = 1024**3
GPU_RUNTIME_BYTES = int(1.5 * GIB)
"""CUDA context, captured graphs and the allocator's slack on one GPU. A rule of thumb, not measured here."""
CPU_RUNTIME_BYTES = int(2.5 * GIB)
"""vLLM's CPU build beside weights and cache: its processes, libraries, tokenizer. A reserve, not measured yet."""
LLAMA_RUNTIME_BYTES = int(0.25 * GIB)
"""Process of llama.cpp beside weights and cache. Above what docs/models.md shows for the default model."""
_CACHE_BYTES = {
    "float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "f32": 4.0, "f16": 2.0, "bf16": 2.0,
    "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32, "q4_1": 20 / 32, "q4_0": 18 / 32, "nvfp4": 0.5625,
}  # fmt: skip
"""Bytes of one number in the cache; the q forms are blocks of 32 numbers with their scales (ggml)."""


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One part of the sum."""

    what: str
    size_bytes: int
    arithmetic: str


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """The sum on one GPU, or in main memory.

    Attributes:
        place: Where the memory is, ``each GPU`` or ``main memory``.
        lines: The parts.
        budget_bytes: What the server may take there; None when no machine of that kind is at hand.
        budget: How the budget came about.
        token_bytes: Bytes of the cache for one token there.
        cache_bytes: Bytes of the cache there.
    """

    place: str
    lines: tuple[MemoryLine, ...]
    budget_bytes: int | None
    budget: str
    token_bytes: int
    cache_bytes: int

    @property
    def total_bytes(self) -> int:
        """All parts together."""
        return sum(line.size_bytes for line in self.lines)

    @property
    def fits(self) -> bool | None:
        """Whether the sum is within the budget; None without one."""
        return None if self.budget_bytes is None else self.total_bytes <= self.budget_bytes


def estimate(
    shape: ModelShape, settings: ServingSettings, machine: Machine, device: DeviceKind
) -> MemoryEstimate | None:
    """The estimate for one start; None when the size of the weights is not known.

    Args:
        shape: The model.
        settings: What is asked for.
        machine: What is there.
        device: What the engine computes on.
    """
    weights = _weights(shape, settings, device)
    if weights is None:
        return None
    cache = _cache(shape, settings, device)
    activations = _activations(shape, settings)
    if settings.engine == "llama.cpp":
        cache_line, runtime = cache, MemoryLine("process", LLAMA_RUNTIME_BYTES, "libraries, compute buffers apart")
        prompts = MemoryLine("prompt cache", PROMPT_CACHE_MIB * MIB, "prompts of earlier requests, at most")
        lines = (weights, cache_line, activations, prompts, runtime)
    elif device == "cpu":
        space = cpu_cache_gib(shape, settings)
        cache_line = MemoryLine("KV cache", space * GIB, f"{space} GiB set aside; needed: {cache.arithmetic}")
        lines = (weights, cache_line, activations, MemoryLine("processes", CPU_RUNTIME_BYTES, "libraries, tokenizer"))
    else:
        runtime = MemoryLine("runtime", GPU_RUNTIME_BYTES, "CUDA context, graphs, allocator; a rule of thumb")
        cache_line, lines = cache, (weights, cache, activations, runtime)
    budget_bytes, budget = _budget(settings, machine, device)
    return MemoryEstimate(
        place="each GPU" if device == "gpu" else "main memory",
        lines=lines,
        budget_bytes=budget_bytes,
        budget=budget,
        token_bytes=round(token_bytes(shape, settings, device)),
        cache_bytes=cache_line.size_bytes,
    )


def cpu_cache_gib(shape: ModelShape, settings: ServingSettings) -> int:
    """Whole GiB that vLLM's CPU build sets aside for the cache."""
    if settings.cpu_kv_cache_gib:
        return settings.cpu_kv_cache_gib
    return max(1, math.ceil(_cache(shape, settings, "cpu").size_bytes / GIB))


def token_bytes(shape: ModelShape, settings: ServingSettings, device: DeviceKind) -> float:
    """Bytes that one more token takes on one GPU (or in main memory), in the layers that keep every token."""
    return _layer_token_bytes(shape, settings) * shape.full_layers / _cache_shares(shape, settings, device)


def needs_cache_bytes(shape: ModelShape, settings: ServingSettings, device: DeviceKind) -> int:
    """Bytes of the cache that the asked requests of full length fill."""
    return _cache(shape, settings, device).size_bytes


def _weights(shape: ModelShape, settings: ServingSettings, device: DeviceKind) -> MemoryLine | None:
    if settings.weights_gib is not None:
        size, source = round(settings.weights_gib * GIB), f"serving.weights_gib = {settings.weights_gib:g}"
    elif shape.weights_bytes is not None:
        size, source = shape.weights_bytes, "size of the files"
        if shape.parameters and size == 2 * shape.parameters:
            source = f"{shape.parameters:,} numbers x 2 bytes"
    else:
        return None
    if not shape.quantized and settings.quantization in ("fp8", "fp8_per_tensor", "fp8_per_block", "fp8_per_channel"):
        size, source = size // shape.float_bytes, f"{source}, / {shape.float_bytes} by quantization fp8"
    elif not shape.quantized and settings.dtype == "float32" and shape.float_bytes < 4:
        size, source = size * 4 // shape.float_bytes, f"{source}, x {4 // shape.float_bytes} in float32"
    shares = settings.tensor_parallel_size * settings.pipeline_parallel_size if device == "gpu" else 1
    if shares > 1:
        source += f", / {shares} GPUs"
    return MemoryLine("weights", size // shares, source)


def _cache(shape: ModelShape, settings: ServingSettings, device: DeviceKind) -> MemoryLine:
    requests = settings.max_num_seqs if settings.engine == "llama.cpp" else settings.full_length_requests
    tokens = settings.max_model_len
    shares = _cache_shares(shape, settings, device)
    a_layer = _layer_token_bytes(shape, settings)
    per_request = a_layer * (shape.full_layers * tokens + shape.window_layers * min(tokens, shape.window))
    size = math.ceil(per_request * requests / shares)
    words = f"{_layer_words(shape, settings)} x {shape.full_layers} layers x {tokens:,} tokens"
    if shape.window_layers:
        words = f"({words} + {shape.window_layers} layers of a window of {shape.window:,} tokens)"
    words += f" x {requests} request{'s' if requests > 1 else ''} of full length"
    other = shape.layers - shape.full_layers - shape.window_layers
    if other > 0:
        words += f"; {other} layers keep a fixed state, which is left out"
    if shares > 1:
        words += f", / {shares} GPUs"
    return MemoryLine("KV cache", size, words)


def _layer_token_bytes(shape: ModelShape, settings: ServingSettings) -> float:
    width = shape.latent if shape.latent is not None else 2 * shape.kv_heads * shape.head_dim
    return width * _number_bytes(shape, settings)


def _layer_words(shape: ModelShape, settings: ServingSettings) -> str:
    number = f"{_number_bytes(shape, settings):g} bytes"
    if shape.latent is not None:
        return f"{shape.latent} latent numbers x {number}"
    return f"2 x {shape.kv_heads} heads x {shape.head_dim} x {number}"


def _number_bytes(shape: ModelShape, settings: ServingSettings) -> float:
    kind = settings.kv_cache_dtype
    if kind == "auto":
        return _CACHE_BYTES.get(settings.dtype, float(min(2, shape.float_bytes)))
    return _CACHE_BYTES.get(kind, 1.0 if kind.startswith(("fp8", "int8")) else 2.0)


def _cache_shares(shape: ModelShape, settings: ServingSettings, device: DeviceKind) -> int:
    """GPUs among which the cache is divided: no more than there are heads, and none for a latent cache."""
    if device == "cpu":
        return 1
    heads = 1 if shape.latent is not None else min(settings.tensor_parallel_size, shape.kv_heads)
    return heads * settings.pipeline_parallel_size


def _activations(shape: ModelShape, settings: ServingSettings) -> MemoryLine:
    """One step at its largest: the numbers inside a layer for all its tokens, and the scores of the next tokens."""
    tokens = BATCH_TOKENS if settings.engine == "llama.cpp" else settings.max_num_batched_tokens
    inside = 2 * (4 * shape.hidden + 2 * shape.intermediate)
    scores = settings.max_num_seqs * shape.vocabulary * 4 * 2
    return MemoryLine(
        "activations",
        tokens * inside + scores,
        f"{tokens:,} tokens x (4 x {shape.hidden} + 2 x {shape.intermediate}) x 2 bytes"
        f" + {settings.max_num_seqs} requests x {shape.vocabulary:,} scores x 4 bytes x 2",
    )


def _budget(settings: ServingSettings, machine: Machine, device: DeviceKind) -> tuple[int | None, str]:
    if device == "cpu":
        return machine.available_bytes, "memory that is free now"
    if not machine.gpus:
        return None, "no GPU is here"
    smallest = min(machine.gpus, key=lambda gpu: gpu.memory_bytes)
    share = settings.gpu_memory_utilization
    words = f"{share:g} of the {gib(smallest.memory_bytes)} of {smallest.name}"
    return int(smallest.memory_bytes * share), words


def gib(size_bytes: float) -> str:
    """A size for people."""
    return f"{size_bytes / GIB:.2f} GiB"
