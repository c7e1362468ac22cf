"""The stand-in API's part for chat models and presets. State lives in one object."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.model_schema import ChatModelInfo, ChatModelList
from app.preset_schema import Preset, PresetHistory, PresetList, PresetSwitch, SavedPreset
from tests.ui.stub_calls import json_response, problem

AT = "2026-01-05T10:00:00.000000+00:00"


def model_of(name: str, *, default: bool = False) -> ChatModelInfo:
    """A model that is ready."""
    return ChatModelInfo(
        name=name, default=default, server="llama.cpp" if default else "vllm", state="ready",
        context_tokens=4096 if default else 32768, tools="constrained" if default else "native", structured=True,
        images=False, fallback=(), server_models=(),
    )  # fmt: skip


@dataclass
class ModelState:
    """What the API holds of models and presets."""

    models: list[ChatModelInfo] = field(default_factory=lambda: [model_of("small", default=True)])
    presets: dict[str, list[Preset]] = field(default_factory=dict[str, list[Preset]])
    """Versions by name, oldest first."""
    current: dict[str, int] = field(default_factory=dict[str, int])

    def saved(self, name: str, version: int | None = None) -> SavedPreset:
        """A version of a preset, the current one unless told otherwise."""
        version = version or self.current[name]
        return SavedPreset(
            name=name, version=version, current=version == self.current[name], saved_at=AT, saved_by="local",
            preset=self.presets[name][version - 1],
        )  # fmt: skip

    def save(self, name: str, preset: Preset) -> SavedPreset:
        """A new version, which becomes the current one."""
        versions = self.presets.setdefault(name, [])
        versions.append(preset)
        self.current[name] = len(versions)
        return self.saved(name)


def model_routes(state: ModelState) -> list[Route]:
    """Routes over the state."""
    api = _Api(state)
    return [
        Route("/api/models", api.models),
        Route("/api/presets", api.presets),
        Route("/api/presets/{name}", api.preset, methods=["GET", "PUT", "DELETE"]),
        Route("/api/presets/{name}/versions", api.versions),
        Route("/api/presets/{name}/current", api.switch, methods=["PUT"]),
    ]


class _Api:
    def __init__(self, state: ModelState) -> None:
        self.state = state

    async def models(self, _request: Request) -> Response:
        return json_response(ChatModelList(models=self.state.models))

    async def presets(self, _request: Request) -> Response:
        return json_response(PresetList(presets=[self.state.saved(name) for name in sorted(self.state.presets)]))

    async def preset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.method == "PUT":
            preset = Preset.model_validate_json(await request.body())
            if preset.model and preset.model not in {model.name for model in self.state.models}:
                return problem(422, "preset_invalid", f"There is no model {preset.model!r}.")
            return json_response(self.state.save(name, preset))
        if name not in self.state.presets:
            return problem(404, "preset_unknown", f"There is no preset {name!r}.")
        if request.method == "DELETE":
            del self.state.presets[name], self.state.current[name]
            return Response(status_code=204)
        return json_response(self.state.saved(name))

    async def versions(self, request: Request) -> Response:
        name = request.path_params["name"]
        numbers = range(len(self.state.presets[name]), 0, -1)
        return json_response(PresetHistory(name=name, versions=[self.state.saved(name, one) for one in numbers]))

    async def switch(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.state.current[name] = PresetSwitch.model_validate_json(await request.body()).version
        return json_response(self.state.saved(name))
