"""Calling a tool of a server: progress, time limit, questions, and what a failure says of the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
)
from pydantic import BaseModel, JsonValue, ValidationError

from tools.errors import OutcomeUnknown, ServerUnavailable, ToolError
from tools.mcp.connection import NOT_SENT, SESSION_LOST, McpConnection, Opening, lost, sentence
from tools.types import CallContext

REFUSALS = frozenset(
    {
        HEADER_MISMATCH,
        INVALID_PARAMS,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        PARSE_ERROR,
        UNSUPPORTED_PROTOCOL_VERSION,
        URL_ELICITATION_REQUIRED,
    }
)
"""Errors that say that a request was not carried out; after any other one the tool may have done its work."""


async def call_tool(
    connection: McpConnection,
    tool: str,
    arguments: Mapping[str, JsonValue],
    context: CallContext,
    *,
    timeout_seconds: float,
) -> CallToolResult:
    """What the server answered, errors of the tool included.

    A cancelled caller cancels the call at the server too. Time in which a person is asked does not count.

    Raises:
        ToolError: Nothing was done: the server cannot be reached or refused the request.
        OutcomeUnknown: The call was sent and no answer came, or none that can be read.
    """
    for attempt in range(2):
        try:
            opening, client = await connection.connect()
        except ServerUnavailable as error:
            raise ToolError(str(error)) from error
        try:
            async with _limited(connection, tool, context, timeout_seconds=timeout_seconds):
                return await _send(client, tool, arguments, context)
        except MCPError as error:
            if attempt > 0 or not await _may_be_repeated(connection, opening, error, tool=tool, context=context):
                raise _failure(connection, opening, error) from error
        except TimeoutError as error:
            raise OutcomeUnknown(
                f"MCP server {connection.name!r} did not answer in {timeout_seconds:g} seconds."
            ) from error
        except (ValidationError, RuntimeError) as error:
            raise OutcomeUnknown(f"MCP server {connection.name!r} answered against the protocol.") from error
    raise AssertionError("the second attempt returns or raises")


async def _send(client: Client, tool: str, arguments: Mapping[str, JsonValue], context: CallContext) -> CallToolResult:
    async def report(progress: float, total: float | None, message: str | None) -> None:
        if context.on_progress:
            context.on_progress(progress, total, message)

    return await client.call_tool(tool, dict(arguments), progress_callback=report)


async def _may_be_repeated(
    connection: McpConnection, opening: Opening, error: MCPError, *, tool: str, context: CallContext
) -> bool:
    """Whether the server says that it did not carry the call out, for a reason that is now gone."""
    if error.code == SESSION_LOST:
        connection.broke(opening, error)
        connection.retry_now()
        return True
    if error.code != URL_ELICITATION_REQUIRED or connection.questions is None:
        return False
    try:
        addresses = _Addresses.model_validate(cast(object, error.error.data)).elicitations
    except ValidationError:
        return False
    for address in addresses:
        if not await connection.questions.ask_to_open(address.url, address.message, tool=tool, call_id=context.call_id):
            return False
    return bool(addresses)


def _failure(connection: McpConnection, opening: Opening, error: MCPError) -> ToolError:
    if lost(error):
        connection.broke(opening, error)
    if error.code == CONNECTION_CLOSED:
        return OutcomeUnknown(f"MCP server {connection.name!r} went away during the call.")
    if error.code in (NOT_SENT, SESSION_LOST):
        return ToolError(f"MCP server {connection.name!r} cannot be reached ({sentence(error)}); nothing was done.")
    if error.code in REFUSALS:
        return ToolError(f"MCP server {connection.name!r} refused the call: {sentence(error)}.")
    return OutcomeUnknown(f"MCP server {connection.name!r} failed during the call: {sentence(error)}.")


class _Address(BaseModel):
    message: str = ""
    url: str


class _Addresses(BaseModel):
    elicitations: list[_Address]


@asynccontextmanager
async def _limited(
    connection: McpConnection, tool: str, context: CallContext, *, timeout_seconds: float
) -> AsyncGenerator[None]:
    if connection.questions is None:
        async with asyncio.timeout(timeout_seconds):
            yield
    else:
        async with connection.questions.call(tool, context.call_id, timeout_seconds=timeout_seconds):
            yield
