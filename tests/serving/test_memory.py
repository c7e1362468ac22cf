from __future__ import annotations

import pytest

from app.serving.machine import Gpu, Machine, has_fast_bfloat16, parse_gpus, this_machine
from app.serving.memory import GIB, MemoryEstimate, estimate
from app.serving.settings import ServingSettings
from tests.serving.models import qwen_shape

CPU = Machine(available_bytes=16 * GIB, total_bytes=24 * GIB, cores=2, gpus=())
GPU = Machine(available_bytes=16 * GIB, total_bytes=24 * GIB, cores=2, gpus=(Gpu("A card", 24 * GIB),))
TOKEN_BYTES = 2 * 2 * 128 * 2 * 28
"""Keys and values of 2 heads of 128 numbers of 2 bytes in 28 layers."""


def parts(memory: MemoryEstimate | None) -> dict[str, int]:
    assert memory
    return {line.what: line.size_bytes for line in memory.lines}


def test_cache_is_tokens_times_layers_times_heads() -> None:
    settings = ServingSettings(max_model_len=4096, full_length_requests=3)
    memory = estimate(qwen_shape(), settings, GPU, "gpu")
    assert memory
    assert memory.token_bytes == TOKEN_BYTES == 28_672
    assert parts(memory)["KV cache"] == TOKEN_BYTES * 4096 * 3
    assert parts(memory)["weights"] == 3_087_428_608
    (line,) = (line for line in memory.lines if line.what == "KV cache")
    assert line.arithmetic == "2 x 2 heads x 128 x 2 bytes x 28 layers x 4,096 tokens x 3 requests of full length"


def test_sum_is_held_against_the_share_of_the_smallest_gpu() -> None:
    machine = Machine(0, 0, 2, (Gpu("Large", 80 * GIB), Gpu("Small", 8 * GIB)))
    memory = estimate(qwen_shape(), ServingSettings(gpu_memory_utilization=0.5), machine, "gpu")
    assert memory
    assert memory.budget_bytes == 4 * GIB
    assert memory.budget == "0.5 of the 8.00 GiB of Small"
    assert memory.fits is False


def test_gpus_divide_weights_and_as_many_heads_as_there_are() -> None:
    one = estimate(qwen_shape(), ServingSettings(), GPU, "gpu")
    four = estimate(qwen_shape(), ServingSettings(tensor_parallel_size=4), GPU, "gpu")
    assert parts(four)["weights"] == parts(one)["weights"] // 4
    assert parts(four)["KV cache"] == parts(one)["KV cache"] // 2  # 2 heads cannot be divided among 4


def test_smaller_numbers_in_the_cache_make_it_smaller() -> None:
    auto = parts(estimate(qwen_shape(), ServingSettings(), GPU, "gpu"))["KV cache"]
    assert parts(estimate(qwen_shape(), ServingSettings(kv_cache_dtype="fp8"), GPU, "gpu"))["KV cache"] == auto // 2
    q8 = ServingSettings(engine="llama.cpp", max_num_seqs=1, kv_cache_dtype="q8_0")
    assert parts(estimate(qwen_shape(), q8, CPU, "cpu"))["KV cache"] == auto * 34 // 64


def test_window_layers_keep_no_more_than_their_window() -> None:
    shape = qwen_shape(full_layers=14, window_layers=14, window=128)
    cache = parts(estimate(shape, ServingSettings(max_model_len=8192), GPU, "gpu"))["KV cache"]
    assert cache == TOKEN_BYTES // 28 * (14 * 8192 + 14 * 128)


def test_latent_cache_is_not_divided() -> None:
    settings = ServingSettings(max_model_len=1000, tensor_parallel_size=8)
    cache = parts(estimate(qwen_shape(latent=576), settings, GPU, "gpu"))["KV cache"]
    assert cache == 576 * 2 * 28 * 1000


def test_quantizing_at_start_halves_wide_weights_alone() -> None:
    fp8 = ServingSettings(quantization="fp8")
    assert parts(estimate(qwen_shape(), fp8, GPU, "gpu"))["weights"] == 3_087_428_608 // 2
    assert parts(estimate(qwen_shape(quantized=True), fp8, GPU, "gpu"))["weights"] == 3_087_428_608


def test_cpu_sets_whole_gibibytes_aside() -> None:
    settings = ServingSettings(max_model_len=32768, full_length_requests=2)
    assert parts(estimate(qwen_shape(), settings, CPU, "cpu"))["KV cache"] == 2 * GIB  # 1.75 needed
    chosen = settings.model_copy(update={"cpu_kv_cache_gib": 5})
    assert parts(estimate(qwen_shape(), chosen, CPU, "cpu"))["KV cache"] == 5 * GIB


def test_llama_cpp_gives_each_slot_its_window() -> None:
    settings = ServingSettings(engine="llama.cpp", max_model_len=4096, max_num_seqs=3, full_length_requests=1)
    assert parts(estimate(qwen_shape(), settings, CPU, "cpu"))["KV cache"] == TOKEN_BYTES * 4096 * 3


def test_weights_that_are_not_here_count_as_the_setting_says() -> None:
    shape = qwen_shape(weights_bytes=None)
    assert estimate(shape, ServingSettings(), GPU, "gpu") is None
    assert parts(estimate(shape, ServingSettings(weights_gib=12.5), GPU, "gpu"))["weights"] == round(12.5 * GIB)


def test_without_a_gpu_nothing_is_said_about_fitting() -> None:
    memory = estimate(qwen_shape(), ServingSettings(), CPU, "gpu")
    assert memory
    assert memory.fits is None


@pytest.mark.parametrize(
    ("listing", "gpus"),
    [
        (
            "NVIDIA L4, 23034\nNVIDIA H100, 80 GB, 81559\n",
            (Gpu("NVIDIA L4", 23034 << 20), Gpu("NVIDIA H100, 80 GB", 81559 << 20)),
        ),
        ("No devices were found\n", ()),
        ("Some card, [N/A]\n", ()),
    ],
)
def test_answer_of_the_driver_is_read(listing: str, gpus: tuple[Gpu, ...]) -> None:
    assert parse_gpus(listing) == gpus


@pytest.mark.parametrize(
    ("cpuinfo", "fast"),
    [
        ("processor\t: 0\nflags\t\t: fpu sse2 avx2 f16c\n", False),
        ("processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512_bf16\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd bf16\n", True),
    ],
)
def test_processor_says_whether_it_is_fast_in_bfloat16(cpuinfo: str, fast: bool) -> None:
    assert has_fast_bfloat16(cpuinfo) is fast


def test_this_machine_has_memory_and_cores() -> None:
    machine = this_machine()
    assert 0 < machine.available_bytes <= machine.total_bytes
    assert machine.cores >= 1
