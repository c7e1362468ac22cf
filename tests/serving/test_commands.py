from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.serving.commands import Command, Launch, llama_command, vllm_command
from app.serving.errors import KnobUnsupported
from app.serving.families import Parsers
from app.serving.settings import DeviceKind, ServingSettings, SpeculativeSettings

PYTHON = Path("/engine/bin/python")
HERMES = Parsers("qwen2.5", "hermes", "", "")


def vllm(settings: ServingSettings, device: DeviceKind = "gpu", parsers: Parsers = HERMES) -> Command:
    return vllm_command(PYTHON, Launch(settings, "/models/m", 8001, device, parsers, cpu_cache_gib=3))


def value(command: Command, flag: str) -> str:
    return command.argv[command.argv.index(flag) + 1]


def test_defaults_are_one_readable_line() -> None:
    assert vllm(ServingSettings()).argv == (
        "/engine/bin/python", "-m", "vllm.entrypoints.openai.api_server",
        "--model", "/models/m", "--served-model-name", "chat", "--host", "127.0.0.1", "--port", "8001",
        "--max-model-len", "8192", "--max-num-seqs", "8", "--max-num-batched-tokens", "2048",
        "--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--tool-strict-level", "function",
        "--dtype", "auto", "--enable-prefix-caching", "--enable-prompt-tokens-details",
        "--gpu-memory-utilization", "0.92",
    )  # fmt: skip


def test_cpu_computes_without_compiling_and_has_its_cache_in_the_environment() -> None:
    command = vllm(ServingSettings(cpu_threads_bind="0-1"), "cpu")
    assert "--enforce-eager" in command.argv
    assert "--gpu-memory-utilization" not in command.argv
    assert command.environ["VLLM_CPU_KVCACHE_SPACE"] == "3"
    assert command.environ["VLLM_CPU_OMP_THREADS_BIND"] == "0-1"
    assert value(vllm(ServingSettings(dtype="float32"), "cpu"), "--dtype") == "float32"


def test_without_a_parser_no_tool_calls_are_offered() -> None:
    argv = vllm(ServingSettings(), parsers=Parsers("", "", "deepseek_r1", "")).argv
    assert "--enable-auto-tool-choice" not in argv
    assert argv[argv.index("--reasoning-parser") + 1] == "deepseek_r1"


def test_every_knob_reaches_the_command() -> None:
    command = vllm(
        ServingSettings(
            tool_strict_level="parameter", chat_template="t.jinja", quantization="fp8", kv_cache_dtype="fp8",
            prefix_caching=False, lora_adapters=("a=/a", "b=/b"), max_lora_rank=32, tensor_parallel_size=2,
            pipeline_parallel_size=3, data_parallel_size=4, max_num_queued_reqs=5, max_num_queued_tokens=6,
            speculative=SpeculativeSettings(method="ngram", num_speculative_tokens=4), extra_args=("--seed", "1"),
            enforce_eager=True,
        )
    )  # fmt: skip
    flags = {
        "--tool-strict-level": "parameter", "--chat-template": "t.jinja", "--quantization": "fp8",
        "--kv-cache-dtype": "fp8", "--lora-modules": "a=/a", "--max-loras": "2", "--max-lora-rank": "32",
        "--tensor-parallel-size": "2", "--pipeline-parallel-size": "3", "--data-parallel-size": "4",
        "--max-num-queued-reqs": "5", "--max-num-queued-tokens": "6",
        "--speculative-config": '{"method": "ngram", "num_speculative_tokens": 4}',
    }  # fmt: skip
    assert {flag: value(command, flag) for flag in flags} == flags
    assert {"--no-enable-prefix-caching", "--enable-lora", "--enforce-eager", "b=/b"} <= set(command.argv)
    assert command.argv[-2:] == ("--seed", "1")


def test_key_stands_in_the_environment_alone() -> None:
    settings = ServingSettings(api_key=SecretStr("s3cret"))
    llama = llama_command(Launch(settings.model_copy(update={"engine": "llama.cpp"}), "m", 1, "cpu", HERMES, 0))
    for command in (vllm(settings), llama):
        assert command.environ["VLLM_API_KEY"] == "s3cret"
        assert "s3cret" not in " ".join(command.argv)


@pytest.mark.parametrize(
    "knob",
    [{"tensor_parallel_size": 2}, {"quantization": "fp8"}, {"max_num_queued_reqs": 1}, {"data_parallel_size": 2}],
)
def test_llama_cpp_refuses_knobs_that_it_does_not_have(knob: dict[str, object]) -> None:
    settings = ServingSettings.model_validate({"engine": "llama.cpp", **knob})
    with pytest.raises(KnobUnsupported, match=f"llama.cpp has no '{next(iter(knob))}'"):
        llama_command(Launch(settings, "m.gguf", 1, "cpu", HERMES, 0))
