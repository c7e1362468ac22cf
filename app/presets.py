"""What a preset may say, and how a question takes what it does not say itself from one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agents.chat_model import ChatMessage
from agents.errors import SchemaInvalid
from agents.guidance import NO_GUIDANCE, Guidance
from agents.structured import check_schema
from app.errors import PresetInvalid
from app.preset_schema import Preset, SavedPreset
from app.preset_store import PresetStore
from app.schema import RunRequest
from app.threads import ThreadStore

if TYPE_CHECKING:
    from agents.gateway.gateway import ModelGateway
    from app.acting import AgentService

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class PresetService:
    """Presets of one open platform."""

    def __init__(
        self, store: PresetStore, threads: ThreadStore, *, gateway: ModelGateway, agents: AgentService
    ) -> None:
        self.store = store
        self._threads = threads
        self._gateway = gateway
        self._agents = agents

    async def save(self, name: str, preset: Preset, *, user: str) -> SavedPreset:
        """Save a new version, which becomes the current one; one without a change is returned as it stands.

        Collections are not checked: they may be filled later.

        Raises:
            PresetInvalid: The name does not fit, or agent and schema are both there.
            ModelUnknown: There is no such model.
            AgentUnknown: There is no such agent.
            SchemaInvalid: The output schema is none.
        """
        if not _NAME.fullmatch(name):
            raise PresetInvalid(
                f"{name!r} is no name of a preset; take at most 64 small letters, digits, '-', '_' and '.', "
                "and begin with a letter or digit."
            )
        self._gateway.endpoint(preset.model)
        if preset.agent:
            await self._agents.require_agent(preset.agent)
        if preset.output_schema is not None:
            check_schema(preset.output_schema)
            if preset.agent:
                raise PresetInvalid("An output schema is for answers from documents; leave it or the agent out.")
        return await self.store.save(name, preset, user=user)

    async def chosen(self, request: RunRequest, thread_id: str) -> SavedPreset | None:
        """The preset that a question is asked with: its own, else that of its thread.

        Raises:
            PresetUnknown: There is no such preset, or no such version of it.
            PresetInvalid: The request names a version and no preset.
            ThreadUnknown: There is no such thread.
        """
        name = request.preset
        if name is None:
            name = (await self._threads.get(thread_id)).preset
        if not name:
            if request.preset_version is not None:
                raise PresetInvalid("A version was named without its preset; name both, or neither.")
            return None
        return await self.store.get(name, version=request.preset_version)


def with_preset(request: RunRequest, saved: SavedPreset | None) -> RunRequest:
    """The request with what the preset says where it says nothing itself.

    Raises:
        SchemaInvalid: One of them names an agent and the other an output schema.
    """
    if saved is None:
        return request
    preset = saved.preset
    merged = request.model_copy(
        update={
            "model": request.model or preset.model,
            "collections": request.collections or preset.collections,
            "agent": request.agent or preset.agent,
            "output_schema": preset.output_schema if request.output_schema is None else request.output_schema,
            **{name: value for name, value in preset.sampling.chosen().items() if getattr(request, name) is None},
        }
    )
    brought = not (request.agent and request.output_schema is not None)
    if brought and merged.agent and merged.output_schema is not None:
        raise SchemaInvalid(
            f"The agent {merged.agent!r} and an output schema do not go together, and the preset {saved.name!r} brings "
            "one of them; ask without the preset, or without the other."
        )
    return merged


def guidance_of(saved: SavedPreset | None) -> Guidance:
    """What the preset tells the model."""
    if saved is None:
        return NO_GUIDANCE
    examples = [
        message
        for example in saved.preset.examples
        for message in (ChatMessage("user", example.question), ChatMessage("assistant", example.answer))
    ]
    return Guidance(
        preset=saved.name,
        version=saved.version,
        system_prompt=saved.preset.system_prompt,
        examples=tuple(examples),
        tools=saved.preset.tools,
        saved_by=saved.saved_by,
    )
