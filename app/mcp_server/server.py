"""The MCP server: which tools and resources there are, and how requests and errors cross the protocol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, TypeAlias

from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ValidationError

from agents.errors import AgentError
from app.client import ApiClient
from app.errors import ApiProblem, AppError, NotFound
from app.mcp_server.schema import (
    DOCUMENT_URI,
    AskArguments,
    AskResult,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SearchResult,
)
from app.mcp_server.work import Report, Scope, ask, document_uri, read, search

PAGE_SIZE = 100
DAY_MS = 24 * 60 * 60 * 1000
READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Clients: TypeAlias = Callable[[], AbstractAsyncContextManager[ApiClient]]
Context: TypeAlias = ServerRequestContext[Any, Any]

TOOLS = (
    Tool(
        name="search",
        title="Search the documents",
        description="Find passages of the documents by meaning and by words, best first, each with its source.",
        input_schema=SearchArguments.model_json_schema(),
        output_schema=SearchResult.model_json_schema(),
        annotations=READ_ONLY,
    ),
    Tool(
        name="ask",
        title="Ask the documents",
        description=(
            "Answer a question from the documents. Every claim carries a verdict and quotes that were checked against "
            "the stored text; when the documents do not hold the answer, it says so."
        ),
        input_schema=AskArguments.model_json_schema(),
        output_schema=AskResult.model_json_schema(),
        annotations=READ_ONLY,
    ),
    Tool(
        name="read_document",
        title="Read a document",
        description="Read the stored text of a document, a piece at a time.",
        input_schema=ReadArguments.model_json_schema(),
        output_schema=ReadResult.model_json_schema(),
        annotations=READ_ONLY,
    ),
)
TEMPLATE = ResourceTemplate(
    uri_template=DOCUMENT_URI,
    name="document",
    title="A document",
    description="The stored text of a document, by its id.",
    mime_type="text/plain",
)

PROMPT = Prompt(
    name="answer_from_documents",
    title="Answer from the documents",
    description="Have a question answered from the documents alone, with sources.",
    arguments=[PromptArgument(name="question", description="What to answer.", required=True)],
)
PROMPT_TEXT = (
    "Answer the question below from the documents alone: call the tool ask, or search and read_document. Name the "
    "source of every statement, and say so when the documents do not hold the answer.\n\nQuestion: {question}"
)


def build_server(clients: Clients, *, collections: tuple[str, ...] = (), page_size: int = PAGE_SIZE) -> Server[Any]:
    """The server.

    Args:
        clients: Opens a client of the API for one request.
        collections: Collections that are shown; empty shows all.
        page_size: Resources in one page of their list.
    """
    handlers = _Handlers(clients, Scope(collections), page_size)
    return Server(
        "groundwork",
        title="Groundwork",
        version=version("groundwork"),
        instructions="Search, read and question the documents of this Groundwork. Nothing here changes anything.",
        cache_hints={
            "tools/list": CacheHint(ttl_ms=DAY_MS, scope="public"),
            "prompts/list": CacheHint(ttl_ms=DAY_MS, scope="public"),
            "resources/templates/list": CacheHint(ttl_ms=DAY_MS, scope="public"),
            "server/discover": CacheHint(ttl_ms=DAY_MS, scope="public"),
        },
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, clients: Clients, scope: Scope, page_size: int) -> None:
        self._clients = clients
        self._scope = scope
        self._page_size = page_size

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(TOOLS))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        async def report(steps: float, what: str) -> None:
            await context.session.report_progress(steps, None, what)

        if params.name not in {tool.name for tool in TOOLS}:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        try:
            result = await self._work(params.name, params.arguments or {}, report)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "The arguments"
            return _failure(f"{where}: {first['msg']}.")
        except (AppError, AgentError) as error:
            return _failure(str(error))
        text = result.model_dump_json(indent=2)
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=result.model_dump(mode="json")
        )

    async def list_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def list_resources(self, _context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        start = _offset(params.cursor if params else None)
        async with self._clients() as client:
            try:
                records = await self._scope.documents(client)
            except AppError as error:
                raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error
        end = start + self._page_size
        following = str(end) if end < len(records) else None
        resources = [
            Resource(
                uri=document_uri(record.document_id),
                name=record.source,
                title=record.title,
                description=f"{record.source}, collection {record.collection}",
                mime_type="text/plain",
            )
            for record in records[start:end]
        ]
        return ListResourcesResult(resources=resources, next_cursor=following)

    async def read_resource(self, _context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        head, _, document_id = uri.rpartition("/")
        if f"{head}/" != DOCUMENT_URI.partition("{")[0] or not document_id:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource: {uri}", data={"uri": uri})
        async with self._clients() as client:
            try:
                await self._scope.document(client, document_id)
                text = (await client.document_text(document_id)).text
            except AppError as error:
                raise _protocol_error(error, uri) from error
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=text)])

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, _context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        question = (params.arguments or {}).get("question", "").strip()
        if params.name != PROMPT.name or not question:
            raise MCPError(code=INVALID_PARAMS, message=f"There is {PROMPT.name!r}, and it needs a question.")
        content = TextContent(type="text", text=PROMPT_TEXT.format(question=question))
        return GetPromptResult(description=PROMPT.description, messages=[PromptMessage(role="user", content=content)])

    async def _work(self, name: str, arguments: dict[str, Any], report: Report) -> BaseModel:
        async with self._clients() as client:
            match name:
                case "search":
                    return await search(client, self._scope, SearchArguments.model_validate(arguments))
                case "ask":
                    return await ask(client, self._scope, AskArguments.model_validate(arguments), report)
                case _:
                    return await read(client, self._scope, ReadArguments.model_validate(arguments))


def _protocol_error(error: AppError, uri: str) -> MCPError:
    known = isinstance(error, ApiProblem) and error.problem.status < HTTPStatus.INTERNAL_SERVER_ERROR
    code = INVALID_PARAMS if known or isinstance(error, NotFound) else INTERNAL_ERROR
    return MCPError(code=code, message=str(error), data={"uri": uri})


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal():
        raise MCPError(code=INVALID_PARAMS, message="Unknown cursor.")
    return int(cursor)


def _failure(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)
