"""Opens the chat models of the settings behind one gateway, and asks their servers what they can."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import httpx

from agents.chat_model import ChatModel
from agents.errors import ModelUnavailable, ModelUnknown
from agents.gateway.capabilities import Capabilities
from agents.gateway.endpoint import Endpoint
from agents.gateway.gateway import ModelGateway
from app.deferred import DeferredChatModel
from app.errors import SettingsInvalid
from app.models.store import ModelStore
from app.pictures import Sight
from app.settings import Settings
from retrieval.errors import ModelFilesMissing

if TYPE_CHECKING:
    from agents.openai_chat import BaseUrl, OpenAIChatModel
    from agents.settings import EndpointSettings, ModelServerSettings
    from app.model_server import EmbeddedModelServer

logger = logging.getLogger(__name__)

_DETECT_SECONDS = 30.0
"""Longest wait for one answer while a server is asked what it can."""


def open_gateway(
    settings: Settings,
    model_store: ModelStore,
    server: EmbeddedModelServer | None,
    stack: AsyncExitStack,
    *,
    given: ChatModel | None = None,
) -> ModelGateway:
    """The model of ``[model]`` first, then those of ``[endpoints.NAME]``; closed with the stack.

    Args:
        settings: Which models.
        model_store: Where the embedded model's file is.
        server: The embedded server, when ``[model]`` has no address.
        stack: Closes the connections.
        given: Used instead of the model of ``[model]``; not closed.

    Raises:
        SettingsInvalid: Two models have one name, or a fallback names what is not there.
    """
    main = settings.model
    if main.name in settings.endpoints:
        raise SettingsInvalid(f"Two models are called {main.name!r}; give [endpoints.{main.name}] another name.")
    endpoints: dict[str, Endpoint] = {}
    if given is None:
        connect = partial(_connect_main, settings, model_store, server, _is_llama_cpp(main.name, endpoints))
        deferred = DeferredChatModel(main.name, main.context_tokens, connect)
        stack.push_async_callback(deferred.aclose)
        given = deferred
    embedded = Capabilities(kind="llama.cpp", tools="constrained", structured=True, images=False)
    first = Endpoint(
        given.name,
        given,
        given=embedded
        if main.base_url is None
        else Capabilities(context_tokens=main.context_tokens, images=main.images),
        fallback=main.fallback,
        retries=main.retries,
    )
    endpoints[main.name] = first
    endpoints |= {name: _endpoint(name, values, endpoints, stack) for name, values in settings.endpoints.items()}
    try:
        return ModelGateway([*endpoints.values()], default=first.name)
    except ModelUnknown as error:
        raise SettingsInvalid(f"A fallback in the configuration is wrong: {error}") from error


async def detect_capabilities(settings: Settings, gateway: ModelGateway) -> None:
    """Ask every server by address what it can; one that does not answer keeps what is known of it."""
    main = settings.model
    async with asyncio.TaskGroup() as group:
        for endpoint in gateway.endpoints:
            if values := settings.endpoints.get(endpoint.name):
                group.create_task(_detect(endpoint, values.base_url, values.model, _key(values)))
            elif main.base_url is not None:
                group.create_task(_detect(endpoint, main.base_url, main.name, _key(main)))


async def sight_of(settings: Settings, gateway: ModelGateway, name: str) -> Sight:
    """Whether a model sees; its server is asked where nobody has said and it was not asked yet."""
    endpoint = gateway.endpoint(name)
    main, values = settings.model, settings.endpoints.get(endpoint.name)
    if endpoint.capabilities.images is None:
        if values is not None:
            await _detect(endpoint, values.base_url, values.model, _key(values))
        elif main.base_url is not None and endpoint.name == main.name:
            await _detect(endpoint, main.base_url, main.name, _key(main))
    seeing = tuple(one.name for one in gateway.endpoints if one.capabilities.images)
    return Sight(endpoint.name, endpoint.capabilities, seeing)


async def _detect(endpoint: Endpoint, base_url: str, model: str, key: str | None) -> None:
    from agents.gateway.detection import detect

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = base_url.rstrip("/") + "/"
    try:
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=_DETECT_SECONDS) as client:
            endpoint.found = await detect(client, model)
    except (httpx.HTTPError, ValueError) as error:
        logger.warning("Model server not asked", extra={"model": endpoint.name, "reason": type(error).__name__})


def _is_llama_cpp(name: str, endpoints: Mapping[str, Endpoint]) -> Callable[[], bool]:
    """Whether a model's server is known by now to be llama.cpp."""
    return lambda: name in endpoints and endpoints[name].capabilities.kind == "llama.cpp"


def _endpoint(
    name: str, values: EndpointSettings, endpoints: Mapping[str, Endpoint], stack: AsyncExitStack
) -> Endpoint:
    connect = partial(_connect, values, _is_llama_cpp(name, endpoints))
    model = DeferredChatModel(name, values.context_tokens, connect)
    stack.push_async_callback(model.aclose)
    return Endpoint(
        name,
        model,
        given=Capabilities(
            context_tokens=values.context_tokens,
            tools=values.tools,
            structured=values.structured,
            images=values.images,
        ),
        fallback=values.fallback,
        retries=values.retries,
        max_concurrent=values.max_concurrent,
    )


def _connect(values: EndpointSettings, llama_cpp: Callable[[], bool]) -> OpenAIChatModel:
    return _open_model(values, values.base_url, values.model, _key(values), llama_cpp)


def _connect_main(
    settings: Settings, model_store: ModelStore, server: EmbeddedModelServer | None, llama_cpp: Callable[[], bool]
) -> OpenAIChatModel:
    model = settings.model

    async def started_server() -> str:
        if server is None:
            try:
                model_store.chat_model_path(model.name)
            except ModelFilesMissing as error:
                raise ModelUnavailable(str(error)) from error
            raise ModelUnavailable("The chat model was added while Groundwork was running; start it again.")
        await server.start()
        return await server.base_url()

    key = server.api_key if server else _key(model)
    return _open_model(model, model.base_url or started_server, model.name, key, llama_cpp)


def _open_model(
    values: ModelServerSettings, base_url: BaseUrl, name: str, key: str | None, llama_cpp: Callable[[], bool]
) -> OpenAIChatModel:
    from agents.openai_chat import OpenAIChatModel, TimeLimits

    return OpenAIChatModel(
        base_url,
        name=name,
        context_tokens=values.context_tokens,
        api_key=key,
        limits=TimeLimits(
            connect=values.connect_timeout_seconds,
            first_token=values.first_token_timeout_seconds,
            between_tokens=values.token_timeout_seconds,
        ),
        llama_cpp=llama_cpp,
    )


def _key(values: ModelServerSettings) -> str | None:
    return values.api_key.get_secret_value() if values.api_key else None
