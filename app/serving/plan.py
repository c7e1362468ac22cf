"""What ``serve-model`` would do: engine, model, parsers, memory, command. Decides; starts and installs nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.processes import local_url
from app.serving.commands import Command, Launch, llama_command, vllm_command
from app.serving.environment import EngineEnvironment, vllm_environment
from app.serving.errors import KnobUnsupported, ModelTooLarge
from app.serving.families import Parsers, choose_parsers
from app.serving.machine import Machine
from app.serving.memory import MemoryEstimate, cpu_cache_gib, estimate, gib, needs_cache_bytes
from app.serving.model_source import ServedModel, served_model
from app.serving.settings import DeviceKind, ServingSettings
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class ServePlan:
    """All that is decided before something starts.

    Attributes:
        settings: The knobs.
        device: What the engine computes on.
        environment: Where vLLM lives; None for llama.cpp, which lives in the application's.
        model: What is served.
        parsers: vLLM's parsers; None for llama.cpp, whose chat template says it.
        memory: The estimate; None when the size of the weights is not known.
        command: What is started.
        port: Port it listens on.
    """

    settings: ServingSettings
    device: DeviceKind
    environment: EngineEnvironment | None
    model: ServedModel
    parsers: Parsers | None
    memory: MemoryEstimate | None
    command: Command
    port: int

    @property
    def url(self) -> str:
        """Address of the server on this machine."""
        return local_url(self.settings.host, self.port)

    @property
    def health_path(self) -> str:
        """Path that answers 200 once the server is ready."""
        return "/health"


def make_plan(settings: Settings, serving: ServingSettings, machine: Machine, *, port: int) -> ServePlan:
    """Decide everything for one start.

    Args:
        settings: Home, model store and network of this call.
        serving: The knobs, profile and options already in them.
        machine: What is there.
        port: Port that is free.

    Raises:
        FamilyUnknown: Nobody has said how the model writes tool calls.
        KnobUnsupported: A knob does not fit the engine or the model.
        ModelFilesMissing: The chat model of the model store has not been pulled.
    """
    device = _device(serving, machine)
    if serving.engine == "vllm" and device == "cpu" and serving.dtype == "auto":
        serving = serving.model_copy(update={"dtype": "bfloat16" if machine.fast_bfloat16 else "float32"})
    model = served_model(settings, serving)
    shape = model.shape
    if shape and shape.trained_tokens and serving.max_model_len > shape.trained_tokens:
        raise KnobUnsupported(
            f"The model was made for {shape.trained_tokens:,} tokens, and serving.max_model_len is"
            f" {serving.max_model_len:,}; lower it."
        )
    memory = estimate(shape, serving, machine, device) if shape else None
    launch = Launch(
        settings=serving,
        model=model.argument,
        port=port,
        device=device,
        parsers=Parsers("", "", "", ""),
        cpu_cache_gib=cpu_cache_gib(shape, serving) if shape else serving.cpu_kv_cache_gib or 4,
    )
    if serving.engine == "llama.cpp":
        return ServePlan(serving, device, None, model, None, memory, llama_command(launch), port)
    parsers = choose_parsers(serving, model=model.name, model_type=shape.model_type if shape else "")
    environment = vllm_environment(settings.home, serving, device)
    command = vllm_command(environment.python, replace(launch, parsers=parsers))
    return ServePlan(serving, device, environment, model, parsers, memory, command, port)


def require_fit(plan: ServePlan, machine: Machine) -> None:
    """Return when the model fits, or nothing speaks against it.

    Raises:
        ModelTooLarge: It cannot fit; says what is asked for, what is there, and what would help.
        KnobUnsupported: There are fewer GPUs than the settings divide the model among.
    """
    serving = plan.settings
    asked = serving.tensor_parallel_size * serving.pipeline_parallel_size * serving.data_parallel_size
    if plan.device == "gpu" and machine.gpus and len(machine.gpus) < asked:
        raise KnobUnsupported(
            f"The settings divide the model among {asked} GPUs, and {len(machine.gpus)} are here; lower"
            " serving.tensor_parallel_size, serving.pipeline_parallel_size or serving.data_parallel_size."
        )
    memory, shape = plan.memory, plan.model.shape
    if memory is None or shape is None:
        return
    needed = needs_cache_bytes(shape, serving, plan.device)
    if memory.cache_bytes < needed:
        raise ModelTooLarge(
            f"The cache of {gib(memory.cache_bytes)} does not hold the {gib(needed)} that"
            f" {serving.full_length_requests} x {serving.max_model_len:,} tokens need; raise serving.cpu_kv_cache_gib,"
            " or lower serving.max_model_len."
        )
    if memory.fits is False:
        raise ModelTooLarge(_too_large(plan, memory))


def fitting_tokens(plan: ServePlan) -> int | None:
    """Tokens of cache that the memory left by everything else holds; None when that is not known."""
    memory = plan.memory
    if memory is None or memory.budget_bytes is None or not memory.token_bytes:
        return None
    rest = memory.budget_bytes - memory.total_bytes + memory.cache_bytes
    return max(0, rest // memory.token_bytes)


def _too_large(plan: ServePlan, memory: MemoryEstimate) -> str:
    parts = ", ".join(f"{line.what} {gib(line.size_bytes)}" for line in memory.lines)
    tokens = fitting_tokens(plan) or 0
    help_words = (
        f"with this model {tokens:,} tokens of cache would fit: lower serving.max_model_len or"
        " serving.full_length_requests, or set serving.kv_cache_dtype"
        if tokens >= 256
        else "take a smaller or quantized model, or more GPUs (serving.tensor_parallel_size)"
    )
    budget = f"{gib(memory.budget_bytes or 0)} ({memory.budget})"
    return f"The model does not fit: {gib(memory.total_bytes)} ({parts}) against {budget}; {help_words}."


def _device(serving: ServingSettings, machine: Machine) -> DeviceKind:
    if serving.engine == "llama.cpp":
        return "cpu"
    if serving.device == "auto":
        return "gpu" if machine.gpus else "cpu"
    return serving.device
