"""Asks an OpenAI-compatible server what it is and what it can, by its listing and by requests of one token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import httpx

from agents.gateway.capabilities import Capabilities, ServerKind, ToolMode

_HELLO: list[object] = [{"role": "user", "content": "Hi"}]
_TOOL: dict[str, object] = {"type": "function", "function": {"name": "noop", "parameters": {"type": "object"}}}
_SCHEMA: dict[str, object] = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
_SQUARE = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAALElEQVR42u3MMREAAAgEoNf+wYxlCDcPAlCTm45AIBAIBAKBQCAQCASC58EC0mgB"
    "SIps7sgAAAAASUVORK5CYII="
)
"""A grey square; its sides are longer than a patch of any vision model, for some refuse what is smaller."""
_PICTURE: list[object] = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": _SQUARE}}]}]


async def detect(client: httpx.AsyncClient, name: str) -> Capabilities:
    """What the server says of a model; three requests of one token where it says nothing.

    Args:
        client: Speaks to the server; its base address ends in ``/v1``, its headers carry the key.
        name: The model's name on the wire.

    Raises:
        httpx.HTTPError: The server cannot be reached, or does not list its models.
    """
    response = await client.get("models")
    response.raise_for_status()
    cards = _cards(response.json())
    card = next((card for card in cards if card.get("id") == name), _mapping(None))
    kind = _kind(card or next(iter(cards), card))
    found = Capabilities(
        kind=kind,
        context_tokens=_whole(card.get("max_model_len")) or _whole(_mapping(card.get("meta")).get("n_ctx")),
        models=tuple(str(card["id"]) for card in cards if "id" in card),
    )
    if kind == "llama.cpp":
        return await _of_llama_cpp(client, found)
    tools: ToolMode = "native" if await _takes(client, name, {"tools": [_TOOL]}) else "constrained"
    schema = {"type": "json_schema", "json_schema": {"name": "probe", "schema": _SCHEMA, "strict": True}}
    return Capabilities(
        kind=found.kind,
        context_tokens=found.context_tokens,
        tools=tools,
        structured=await _takes(client, name, {"response_format": schema}),
        images=await _takes(client, name, {"messages": _PICTURE}),
        models=found.models,
    )


async def _of_llama_cpp(client: httpx.AsyncClient, found: Capabilities) -> Capabilities:
    """llama.cpp has grammars always, and says of its window and its eyes itself; its address has no ``/v1``."""
    properties: Mapping[str, Any] = {}
    response = await client.get(client.base_url.join("/props"))
    if response.is_success:
        properties = _mapping(response.json())
    generation = _mapping(properties.get("default_generation_settings"))
    return Capabilities(
        kind=found.kind,
        context_tokens=_whole(generation.get("n_ctx")) or found.context_tokens,
        tools="constrained",
        structured=True,
        images=bool(_mapping(properties.get("modalities")).get("vision")),
        models=found.models,
    )


async def _takes(client: httpx.AsyncClient, name: str, asked: Mapping[str, object]) -> bool:
    """Whether a request of one token is answered; servers refuse with a status of 400 and above what they cannot do."""
    body = {"model": name, "messages": _HELLO, "max_tokens": 1, **asked}
    return (await client.post("chat/completions", json=body)).is_success


def _cards(body: object) -> list[Mapping[str, Any]]:
    data = _mapping(body).get("data")
    return [_mapping(card) for card in cast(list[object], data)] if isinstance(data, list) else []


def _kind(card: Mapping[str, Any]) -> ServerKind:
    owner = card.get("owned_by")
    return "vllm" if owner == "vllm" else "llama.cpp" if owner == "llamacpp" else "other"


def _mapping(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
