"""Tools and the MCP servers they come from: health, review of definitions, resources and prompts.

Which servers there are is written in ``mcp.json`` by the operator of the machine; no request can add one.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.actor import ActorDep
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.tool_schema import (
    CompletionAsk,
    CompletionValues,
    PromptFill,
    PromptListing,
    PromptText,
    ResourceListing,
    ResourceText,
    ServerInfo,
    ToolInfo,
    ToolListing,
    ToolReview,
    ToolSwitch,
)

router = APIRouter(prefix="/api/tools", tags=["tools"])


@router.get("", operation_id="list_tools", responses=problems(404))
async def list_tools(
    platform: PlatformDep,
    server: Annotated[str | None, Query(description="This server alone.")] = None,
    wait: Annotated[bool, Query(description="Wait for servers that start slowly.")] = False,
) -> ToolListing:
    """MCP servers and their tools, each with its state, risk and definition."""
    return await platform.tools.listing(server=server, patient=wait)


@router.get("/servers", operation_id="list_tool_servers", responses=problems())
async def list_servers(platform: PlatformDep) -> list[ServerInfo]:
    """MCP servers and their health; asks and starts none."""
    return await platform.tools.servers()


@router.post("/reviews", operation_id="review_tool", responses=problems(403, 404, 409, 422))
async def review_tool(review: ToolReview, platform: PlatformDep, actor: ActorDep) -> ToolInfo:
    """Let a tool's definition in, or not. 409 when it is another one than the reviewer saw."""
    return await platform.tools.review(
        review.server, review.tool, fingerprint=review.fingerprint, actor=actor, accept=review.accept
    )


@router.post("/enabled", operation_id="switch_tool", responses=problems(403, 404, 422))
async def switch_tool(switch: ToolSwitch, platform: PlatformDep, actor: ActorDep) -> ToolInfo:
    """Switch a reviewed tool on or off."""
    return await platform.tools.set_enabled(switch.server, switch.tool, enabled=switch.enabled, actor=actor)


@router.post("/servers/{server}/restart", operation_id="restart_tool_server", responses=problems(403, 404))
async def restart_server(server: str, platform: PlatformDep, _actor: ActorDep) -> ServerInfo:
    """End the server's connection, forget its failures, and connect anew."""
    return await platform.tools.restart(server)


@router.get("/servers/{server}/resources", operation_id="list_resources", responses=problems(404, 503))
async def list_resources(server: str, platform: PlatformDep) -> ResourceListing:
    """What the server has to read."""
    return await platform.tools.resources(server)


@router.get("/servers/{server}/resource", operation_id="read_resource", responses=problems(404, 422, 503))
async def read_resource(
    server: str, platform: PlatformDep, uri: Annotated[str, Query(min_length=1, description="From the list.")]
) -> ResourceText:
    """One resource; untrusted text."""
    return await platform.tools.read_resource(server, uri)


@router.get("/servers/{server}/prompts", operation_id="list_prompts", responses=problems(404, 503))
async def list_prompts(server: str, platform: PlatformDep) -> PromptListing:
    """The server's prompts, for the question box."""
    return await platform.tools.prompts(server)


@router.post("/servers/{server}/prompts/{name}", operation_id="fill_prompt", responses=problems(404, 422, 503))
async def fill_prompt(server: str, name: str, blanks: PromptFill, platform: PlatformDep) -> PromptText:
    """A prompt with its blanks filled in, for a person to read before it is sent; untrusted text."""
    return await platform.tools.prompt(server, name, blanks.arguments)


@router.post("/servers/{server}/completions", operation_id="complete_argument", responses=problems(404, 422, 503))
async def complete_argument(server: str, asked: CompletionAsk, platform: PlatformDep) -> CompletionValues:
    """What the server suggests for a blank of a prompt or of a template of resources."""
    return await platform.tools.complete(server, asked)
