"""The env files of ``deploy/vllm``, which compose reads, written from the profiles that ``serve-model`` reads.

``python -m app.serving.compose_env`` writes them; a test holds them equal to the profiles.
"""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path

from app.serving.commands import Launch, vllm_command
from app.serving.families import choose_parsers
from app.serving.profiles import Profile, profile_names, read_profile

ENV_FOLDER = Path(__file__).parents[2] / "deploy" / "vllm"
_LINE_CHARACTERS = 118
_COMPOSE_FLAGS = ("--model", "--served-model-name", "--host", "--port", "--max-model-len")
"""What docker-compose.yml gives itself."""


def env_file(profile: Profile) -> str:
    """Variables of a profile for compose, with what was not run as a comment."""
    settings = profile.settings
    device = "cpu" if settings.device == "cpu" else "gpu"
    parsers = choose_parsers(settings, model=settings.model, model_type="")
    launch = Launch(settings, settings.model, 0, device, parsers, settings.cpu_kv_cache_gib)
    gpus = settings.tensor_parallel_size * settings.pipeline_parallel_size * settings.data_parallel_size
    variables = {
        "COMPOSE_PROFILES": device,
        "CHAT_MODEL": settings.model,
        "CHAT_CONTEXT_TOKENS": str(settings.max_model_len),
        **({"CHAT_GPUS": str(gpus)} if device == "gpu" else {"CHAT_KV_CACHE_GB": str(settings.cpu_kv_cache_gib)}),
        "CHAT_FLAGS": shlex.join(_flags(vllm_command(Path("python3"), launch).argv)),
    }
    notes = profile.notes
    comment = [
        f"Written from deploy/profiles/{profile.path.name} by `make settings`; change it there.",
        notes.machine,
        f"NOT RUN: {notes.not_run}",
    ]
    wrapped = [f"# {line}" for text in comment for line in textwrap.wrap(text, _LINE_CHARACTERS)]
    return "\n".join([*wrapped, *(f"{name}={value}" for name, value in variables.items())]) + "\n"


def compose_profiles() -> list[Profile]:
    """Profiles for compose: those of vLLM with a model that it can download by itself."""
    profiles = [read_profile(name) for name in profile_names()]
    return [it for it in profiles if it.settings.engine == "vllm" and it.settings.model]


def _flags(argv: tuple[str, ...]) -> list[str]:
    words = iter(argv[3:])  # behind "python -m module"
    flags: list[str] = []
    for word in words:
        if word in _COMPOSE_FLAGS:
            next(words)
        else:
            flags.append(word)
    return flags


def _write() -> None:
    for profile in compose_profiles():
        (ENV_FOLDER / f"{profile.name}.env").write_text(env_file(profile), encoding="utf-8")


if __name__ == "__main__":
    _write()
