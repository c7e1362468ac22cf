"""What an operator turns on a model server: data only. What it costs and how it is written down stands elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from retrieval.setting_values import FromJson, Words

EngineKind: TypeAlias = Literal["vllm", "llama.cpp"]
DeviceKind: TypeAlias = Literal["gpu", "cpu"]


class SpeculativeSettings(BaseModel):
    """Tokens that a cheaper way proposes and the model checks."""

    model_config = ConfigDict(extra="allow", frozen=True)

    method: str
    """``ngram``, ``mtp``, ``eagle3``, ``draft_model`` ...; further fields go to vLLM as they are."""
    num_speculative_tokens: int = Field(default=2, ge=1)
    """Tokens that are proposed in one step."""
    model: str | None = None
    """The draft model, where the method has one."""


class ServingSettings(BaseModel):
    """The model server that ``groundwork serve-model`` starts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: EngineKind = "vllm"
    """``vllm``, or ``llama.cpp`` for GGUF files on a CPU."""
    device: Literal["auto", "gpu", "cpu"] = "auto"
    """What vLLM computes on; ``auto`` takes the GPU where ``nvidia-smi`` finds one."""
    profile: str = ""
    """Name of a file in ``deploy/profiles``, or a path; its values stand below those of this section."""
    model: str = ""
    """A folder, a GGUF file or a name on the model hub; empty is the chat model of the model store."""
    served_name: str = "chat"
    """Name that clients ask for."""
    host: str = "127.0.0.1"
    """Address the server binds to; vLLM's key guards a part of its paths only, so keep it private."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port of the server; 0 takes a free one."""
    api_key: SecretStr | None = None
    """Key that the server wants for ``/v1``; it goes through the environment, never through the command line."""
    max_model_len: int = Field(default=8192, ge=256)
    """Tokens of one request, prompt and answer together."""
    max_num_seqs: int = Field(default=8, ge=1)
    """Requests in one batch; more wait. For ``llama.cpp`` the number of slots, each with its own window."""
    full_length_requests: int = Field(default=1, ge=1)
    """Requests of full length that the cache of vLLM must hold at once; the start is refused below that."""
    max_num_batched_tokens: int = Field(default=2048, ge=16)
    """Prompt tokens read in one step; more read faster, fewer let others speak in between."""
    family: str = ""
    """Model family for the parsers, as ``groundwork serve-model --families`` names them; empty looks at the model."""
    tool_call_parser: str = "auto"
    """``auto`` by model family, ``none`` without tool calls, or the name of a parser of vLLM."""
    reasoning_parser: str = "auto"
    """``auto`` by model family, ``none``, or the name of a parser of vLLM."""
    tool_strict_level: Literal["auto", "function", "parameter"] = "function"
    """What vLLM enforces of a tool call: nothing by itself, the call and its name, or its arguments too."""
    chat_template: str = ""
    """Path of a chat template in place of the model's own."""
    dtype: str = "auto"
    """Type of weights and activations, ``bfloat16`` for example; ``auto`` is float32 on a CPU without AVX-512."""
    quantization: str = ""
    """Quantization of vLLM, ``fp8`` for example; empty takes what the model's own files say."""
    kv_cache_dtype: str = "auto"
    """Type of the key-value cache; ``fp8`` (vLLM) or ``q8_0`` (llama.cpp) halves it."""
    prefix_caching: bool = True
    """Whether the start of a prompt that was read before is not read again."""
    lora_adapters: Words = ()
    """``name=path`` of LoRA adapters, which appear as models. With commas between them in the environment."""
    max_lora_rank: int = Field(default=16, ge=1)
    """Highest rank among the adapters."""
    speculative: Annotated[SpeculativeSettings | None, FromJson] = None
    """Speculative decoding of vLLM; a table, as JSON in the environment."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share each layer."""
    pipeline_parallel_size: int = Field(default=1, ge=1)
    """Groups of GPUs that share the layers one after the other."""
    data_parallel_size: int = Field(default=1, ge=1)
    """Copies of the model, each with its own GPUs and cache."""
    gpu_memory_utilization: float = Field(default=0.92, gt=0, le=1)
    """Share of each GPU's memory that vLLM takes; what weights leave of it becomes the cache."""
    cpu_kv_cache_gib: int = Field(default=0, ge=0)
    """Memory of vLLM's cache on a CPU; 0 takes what ``full_length_requests`` need, 1 GiB at least."""
    cpu_threads_bind: str = "auto"
    """Cores that vLLM computes on, ``0-3`` for example."""
    enforce_eager: bool = False
    """Start without compiling: quicker to start, slower to write. A CPU always does."""
    threads: int = Field(default=0, ge=0)
    """Threads of llama.cpp; 0 takes one per physical core."""
    max_num_queued_reqs: int | None = Field(default=None, ge=0)
    """Requests in flight before vLLM answers 503; none is no limit."""
    max_num_queued_tokens: int | None = Field(default=None, ge=0)
    """Prompt tokens waiting before vLLM answers 503; none is no limit."""
    weights_gib: float | None = Field(default=None, gt=0)
    """Size of weights that are not on this machine yet, for the estimate."""
    engine_path: Path | None = None
    """Environment (a folder with ``bin/python``) to use in place of the one under the home."""
    start_seconds: float = Field(default=1800.0, gt=0)
    """Longest wait until the server is ready; the first start may download weights."""
    extra_args: Words = ()
    """Further arguments for vLLM, or ``name=value`` of llama.cpp's parameters; handed on as they are."""
