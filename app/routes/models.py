"""Chat models: which there are and what they can."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from agents.gateway.endpoint import Endpoint
from app.model_gateway import detect_capabilities
from app.model_schema import ChatModelInfo, ChatModelList
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api", tags=["models"])


@router.get("/models", operation_id="list_chat_models")
async def list_chat_models(
    platform: PlatformDep,
    detect: Annotated[bool, Query(description="Ask the servers anew what they can; takes seconds.")] = False,
) -> ChatModelList:
    """Models that runs can be given to, the default one first. Addresses and keys are not told."""
    if detect:
        await detect_capabilities(platform.settings, platform.gateway)
    return ChatModelList(models=[_info(endpoint, platform.gateway.default) for endpoint in platform.gateway.endpoints])


def _info(endpoint: Endpoint, default: str) -> ChatModelInfo:
    can = endpoint.capabilities
    return ChatModelInfo(
        name=endpoint.name,
        default=endpoint.name == default,
        server=can.kind,
        state=endpoint.state,
        context_tokens=can.context_tokens,
        tools=can.tools,
        structured=can.structured,
        images=can.images,
        fallback=endpoint.fallback,
        server_models=can.models,
    )
