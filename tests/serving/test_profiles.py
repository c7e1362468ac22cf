from __future__ import annotations

from pathlib import Path

import pytest

from app.serving.compose_env import ENV_FOLDER, compose_profiles, env_file
from app.serving.errors import ProfileInvalid
from app.serving.profiles import profile_names, read_profile, resolve
from app.serving.settings import ServingSettings


def test_profiles_are_the_ones_the_guide_names() -> None:
    assert profile_names() == ["cpu", "cpu-small", "gpu-24gb", "gpu-80gb", "gpu-several"]


@pytest.mark.parametrize("name", profile_names())
def test_profile_is_valid_and_says_what_was_run_and_what_was_not(name: str) -> None:
    profile = read_profile(name)
    assert profile.settings.engine == "vllm"
    assert profile.notes.machine
    assert profile.notes.run
    assert profile.notes.not_run


def test_env_files_of_compose_are_written_from_the_profiles() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in ENV_FOLDER.glob("*.env")}
    assert written == {f"{profile.name}.env": env_file(profile) for profile in compose_profiles()}, (
        "run `make settings`"
    )


def test_options_stand_over_the_section_and_the_section_over_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('model = "a/b"\nmax_model_len = 1000\nmax_num_seqs = 2\nport = 9000\n')
    section = ServingSettings(max_num_seqs=3, port=9001)
    serving = resolve(section, {"profile": str(path), "port": 9002, "host": None})
    assert (serving.model, serving.max_model_len, serving.max_num_seqs, serving.port) == ("a/b", 1000, 3, 9002)
    assert serving.host == "127.0.0.1"


def test_section_can_name_the_profile() -> None:
    assert resolve(ServingSettings(profile="gpu-24gb"), {}).model == read_profile("gpu-24gb").settings.model


def test_profile_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ProfileInvalid, match=r"no profile 'gpu'; take one of cpu, cpu-small, gpu-24gb"):
        read_profile("gpu")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = ", "is not valid TOML"),
        ("modle = 'x'", "'modle' in the profile"),
        ("max_model_len = 'many'", "'max_model_len' in the profile"),
        ("[notes]\nmachine = 'x'", "'run' in the profile"),
    ],
)
def test_profile_that_does_not_fit_is_refused_by_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ProfileInvalid, match=message):
        read_profile(str(path))


def test_lists_and_tables_can_come_from_the_environment() -> None:
    values = {"lora_adapters": "a=/a, b=/b", "speculative": '{"method": "ngram", "prompt_lookup_max": 4}'}
    serving = ServingSettings.model_validate(values)
    assert serving.lora_adapters == ("a=/a", "b=/b")
    assert serving.speculative
    assert serving.speculative.model_dump()["prompt_lookup_max"] == 4
    with pytest.raises(ValueError, match="speculative"):
        ServingSettings.model_validate({"speculative": "{"})
