from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.serving.errors import FamilyUnknown, KnobUnsupported, ModelTooLarge
from app.serving.machine import Gpu, Machine
from app.serving.memory import GIB
from app.serving.plan import ServePlan, make_plan, require_fit
from app.serving.settings import ServingSettings
from app.serving.view import plan_text, plan_view
from app.settings import ModelStoreSettings, Settings
from tests.serving.models import write_gguf, write_model
from tests.serving.test_shape import HEADER

CPU = Machine(available_bytes=16 * GIB, total_bytes=24 * GIB, cores=2, gpus=())
SMALL = Machine(available_bytes=4 * GIB, total_bytes=4 * GIB, cores=2, gpus=())


def gpus(count: int, size_gib: int = 24) -> Machine:
    return Machine(16 * GIB, 24 * GIB, 2, tuple(Gpu("A card", size_gib * GIB) for _ in range(count)))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "Qwen2.5-1.5B-Instruct", weights_bytes=3_087_428_608)


def plan(settings: Settings, machine: Machine, **knobs: object) -> ServePlan:
    return make_plan(settings, ServingSettings.model_validate(knobs), machine, port=8000)


def test_folder_is_served_with_the_parsers_of_its_family(settings: Settings, model: Path) -> None:
    decided = plan(settings, CPU, model=str(model))
    require_fit(decided, CPU)
    view = plan_view(decided, refusal="")
    assert (view.device, view.family, view.tool_call_parser) == ("cpu", "qwen2.5", "hermes")
    assert view.environment == str(settings.home.engines / "vllm-cpu")
    assert not view.environment_ready
    assert view.memory
    assert view.memory.fits
    assert view.memory.total_bytes == sum(line.size_bytes for line in view.memory.lines)


def test_gpu_is_taken_where_there_is_one(settings: Settings, model: Path) -> None:
    assert plan(settings, gpus(1), model=str(model)).device == "gpu"
    assert plan(settings, gpus(1), model=str(model), device="cpu").device == "cpu"


def test_processor_that_is_slow_in_bfloat16_computes_in_float32_and_counts_it(settings: Settings, model: Path) -> None:
    slow = replace(CPU, fast_bfloat16=False)
    for machine, dtype, size in ((CPU, "bfloat16", 3_087_428_608), (slow, "float32", 2 * 3_087_428_608)):
        decided = plan(settings, machine, model=str(model))
        assert decided.command.argv[decided.command.argv.index("--dtype") + 1] == dtype
        assert decided.memory
        assert decided.memory.lines[0].size_bytes == size
    assert plan(settings, slow, model=str(model), dtype="bfloat16").settings.dtype == "bfloat16"
    assert plan(settings, replace(gpus(1), fast_bfloat16=False), model=str(model)).settings.dtype == "auto"


def test_model_that_cannot_fit_is_refused_with_the_sum_and_what_would_help(settings: Settings, model: Path) -> None:
    decided = plan(settings, SMALL, model=str(model))
    with pytest.raises(ModelTooLarge) as caught:
        require_fit(decided, SMALL)
    message = str(caught.value)
    assert "weights 2.88 GiB" in message
    assert "against 4.00 GiB (memory that is free now)" in message
    assert "smaller or quantized model" in message


def test_context_that_is_too_long_for_the_rest_says_how_much_would_fit(settings: Settings, model: Path) -> None:
    machine = gpus(1, size_gib=8)
    decided = plan(settings, machine, model=str(model), max_model_len=32768, full_length_requests=9)
    with pytest.raises(ModelTooLarge, match=r"[\d,]{6,} tokens of cache would fit: lower serving\.max_model_len"):
        require_fit(decided, machine)


def test_cache_below_what_was_asked_is_refused(settings: Settings, model: Path) -> None:
    decided = plan(
        settings, CPU, model=str(model), max_model_len=32768, full_length_requests=2, cpu_kv_cache_gib=1
    )  # fmt: skip
    with pytest.raises(ModelTooLarge, match=r"raise serving\.cpu_kv_cache_gib"):
        require_fit(decided, CPU)


def test_more_gpus_than_there_are_is_refused(settings: Settings, model: Path) -> None:
    decided = plan(settings, gpus(2), model=str(model), tensor_parallel_size=4)
    with pytest.raises(KnobUnsupported, match="among 4 GPUs, and 2 are here"):
        require_fit(decided, gpus(2))


def test_context_beyond_what_the_model_was_made_for_is_refused(settings: Settings, model: Path) -> None:
    with pytest.raises(KnobUnsupported, match=r"made for 32,768 tokens, and serving\.max_model_len is 40,000"):
        plan(settings, CPU, model=str(model), max_model_len=40000)


def test_gguf_file_is_written_out_for_vllm_and_served_as_it_is_by_llama_cpp(settings: Settings, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "qwen2.5-tiny.gguf", HEADER, {"token_embd.weight": [1536, 3]})
    written = plan(settings, CPU, model=str(path))
    assert written.model.made_from == path
    assert written.model.argument == str(settings.home.engines / "weights" / "qwen2.5-tiny-bf16")
    assert written.memory
    assert written.memory.lines[0].size_bytes == 2 * 1536 * 3
    as_it_is = plan(settings, CPU, model=str(path), engine="llama.cpp")
    assert as_it_is.model.argument == str(path)
    assert "--context-tokens" in as_it_is.command.argv


def test_model_store_gives_the_model_when_none_is_named(settings: Settings, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "qwen2.5-tiny.gguf", HEADER, {})
    stored = settings.model_copy(update={"models": ModelStoreSettings(chat_path=path)})
    assert plan(stored, CPU, engine="llama.cpp").model.argument == str(path)


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/m", "m.gguf"])
def test_model_that_is_not_there_is_refused(settings: Settings, name: str) -> None:
    with pytest.raises(KnobUnsupported, match="There is no model at"):
        plan(settings, CPU, model=name)
    with pytest.raises(KnobUnsupported, match=r"llama\.cpp reads a GGUF file"):
        plan(settings, CPU, model=name, engine="llama.cpp")


def test_hub_name_is_planned_without_the_hub(settings: Settings) -> None:
    offline = settings.model_copy(update={"models": ModelStoreSettings(offline=True)})
    decided = plan(offline, gpus(1), model="nobody/qwen3-8b")
    assert decided.memory is None
    require_fit(decided, gpus(1))
    assert "unknown before the model is downloaded" in plan_text(plan_view(decided, refusal=""))


def test_unknown_family_stops_the_plan(settings: Settings, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "ours", model_type="llama")
    with pytest.raises(FamilyUnknown):
        plan(settings, CPU, model=str(folder))


def test_plan_shows_its_arithmetic_and_hides_the_key(settings: Settings, model: Path) -> None:
    decided = plan(settings, CPU, model=str(model), api_key="s3cret")
    view = plan_view(decided, refusal="")
    text = plan_text(view)
    assert "2 x 2 heads x 128 x 2 bytes x 28 layers x 8,192 tokens" in text
    assert "VLLM_API_KEY='***'" in text
    assert "s3cret" not in text + view.model_dump_json()
