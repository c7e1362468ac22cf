"""What a server offers besides calls: its tools, resources and prompts, all pages, as values of ours.

Everything here is the server's own words: data to show, never instructions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from mcp.client.client import Client
from mcp.types import (
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    PaginatedResult,
    Prompt,
    PromptReference,
    Resource,
    ResourceLink,
    ResourceTemplate,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)
from mcp.types import Tool as McpTool
from pydantic import BaseModel, ConfigDict

from tools.errors import ServerUnavailable
from tools.mcp.connection import McpConnection

MAX_PAGES = 200
"""A server that never ends its list is cut off here."""
MAX_RESOURCE_CHARS = 10_000_000

Page = TypeVar("Page", bound=PaginatedResult)
Item = TypeVar("Item")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class ServerResource(_Value):
    """A resource, or a template of resources: its ``uri`` then has ``{names}`` to fill in."""

    uri: str
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    size_bytes: int | None = None
    template: bool = False


class PromptArgument(_Value):
    """A blank of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class ServerPrompt(_Value):
    """A prompt that a server offers."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ResourceContent(_Value):
    """One piece of a resource; ``text`` is None where it is no text, then ``blob`` has its bytes in base64."""

    uri: str
    media_type: str = ""
    text: str | None = None
    blob: str | None = None


class CompletionTarget(_Value):
    """Whose blank is filled in: that of a prompt, or of a template of resources."""

    prompt: str = ""
    template: str = ""


class PromptMessage(_Value):
    """One message of a filled-in prompt; a resource in it is named in ``text``."""

    role: str
    text: str
    resource: ResourceContent | None = None


async def list_tools(connection: McpConnection) -> list[McpTool]:
    """All tools; those that only run as background tasks are left out, for a plain call of them fails.

    Raises:
        ServerUnavailable: The server cannot be reached, or what it says does not fit the protocol.
    """

    async def pages(client: Client) -> list[McpTool]:
        return await _all(
            lambda cursor: client.list_tools(cursor=cursor, cache_mode="refresh"), lambda page: page.tools
        )

    tools = await connection.ask(pages, what="list its tools")
    return [tool for tool in tools if not (tool.execution and tool.execution.task_support == "required")]


async def list_resources(connection: McpConnection) -> list[ServerResource]:
    """All resources, then all templates; empty where the server has none. Raises ``ServerUnavailable``."""
    await connection.connect()
    if connection.identity and "resources" not in connection.identity.capabilities:
        return []

    async def resources(client: Client) -> list[Resource]:
        return await _all(lambda cursor: client.list_resources(cursor=cursor), lambda page: page.resources)

    async def templates(client: Client) -> list[ResourceTemplate]:
        return await _all(
            lambda cursor: client.list_resource_templates(cursor=cursor), lambda page: page.resource_templates
        )

    found = [_resource(item) for item in await connection.ask(resources, what="list its resources")]
    return found + [_template(item) for item in await connection.ask(templates, what="list its resource templates")]


async def read_resource(connection: McpConnection, uri: str) -> list[ResourceContent]:
    """The pieces of a resource.

    Raises:
        ServerUnavailable: The server cannot be reached, knows no such resource, or the resource is too large.
    """
    result = await connection.ask(lambda client: client.read_resource(uri), what=f"read {uri!r}")
    contents = [_content(item) for item in result.contents]
    if sum(len(content.text or "") + len(content.blob or "") for content in contents) > MAX_RESOURCE_CHARS:
        raise ServerUnavailable(f"The resource {uri!r} of {connection.name!r} is too large to show.")
    return contents


async def list_prompts(connection: McpConnection) -> list[ServerPrompt]:
    """All prompts; empty where the server has none. Raises ``ServerUnavailable``."""
    await connection.connect()
    if connection.identity and "prompts" not in connection.identity.capabilities:
        return []

    async def prompts(client: Client) -> list[Prompt]:
        return await _all(lambda cursor: client.list_prompts(cursor=cursor), lambda page: page.prompts)

    return [_prompt(item) for item in await connection.ask(prompts, what="list its prompts")]


async def get_prompt(connection: McpConnection, name: str, arguments: Mapping[str, str]) -> list[PromptMessage]:
    """A prompt with its blanks filled in. Raises ``ServerUnavailable``."""
    result = await connection.ask(lambda client: client.get_prompt(name, dict(arguments)), what=f"fill in {name!r}")
    return _messages(result)


async def complete(
    connection: McpConnection, target: CompletionTarget, argument: str, written: str, others: Mapping[str, str]
) -> list[str]:
    """What the server suggests for a blank of a prompt or of a template; nothing where it suggests nothing.

    Args:
        connection: The server.
        target: Whose blank it is.
        argument: Name of the blank.
        written: What stands in it so far.
        others: What stands in the other blanks.

    Raises:
        ServerUnavailable: The server cannot be reached, or what it says does not fit the protocol.
    """
    _, client = await connection.connect()
    if client.server_capabilities.completions is None:
        return []
    if target.prompt:
        reference = PromptReference(type="ref/prompt", name=target.prompt)
    else:
        reference = ResourceTemplateReference(type="ref/resource", uri=target.template)
    result = await connection.ask(
        lambda client: client.complete(reference, {"name": argument, "value": written}, dict(others)),
        what=f"suggest values for {argument!r}",
    )
    return result.completion.values


async def _all(fetch: Callable[[str | None], Awaitable[Page]], items: Callable[[Page], list[Item]]) -> list[Item]:
    found: list[Item] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await fetch(cursor)
        found += items(page)
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _resource(item: Resource) -> ServerResource:
    return ServerResource(
        uri=str(item.uri),
        name=item.name,
        title=item.title or "",
        description=item.description or "",
        media_type=item.mime_type or "",
        size_bytes=item.size,
    )


def _template(item: ResourceTemplate) -> ServerResource:
    return ServerResource(
        uri=item.uri_template,
        name=item.name,
        title=item.title or "",
        description=item.description or "",
        media_type=item.mime_type or "",
        template=True,
    )


def _content(item: TextResourceContents | BlobResourceContents) -> ResourceContent:
    text, blob = (item.text, None) if isinstance(item, TextResourceContents) else (None, item.blob)
    return ResourceContent(uri=str(item.uri), media_type=item.mime_type or "", text=text, blob=blob)


def _prompt(item: Prompt) -> ServerPrompt:
    arguments = tuple(
        PromptArgument(name=argument.name, description=argument.description or "", required=bool(argument.required))
        for argument in item.arguments or ()
    )
    return ServerPrompt(name=item.name, title=item.title or "", description=item.description or "", arguments=arguments)


def _messages(result: GetPromptResult) -> list[PromptMessage]:
    return [_message(message.role, message.content) for message in result.messages]


def _message(role: str, content: ContentBlock) -> PromptMessage:
    match content:
        case TextContent():
            return PromptMessage(role=role, text=content.text)
        case EmbeddedResource():
            resource = _content(content.resource)
            return PromptMessage(role=role, text=f"[resource {resource.uri}]", resource=resource)
        case ResourceLink():
            return PromptMessage(role=role, text=f"[resource {content.name}: {content.uri}]")
        case _:
            return PromptMessage(role=role, text=f"[{content.type}]")
