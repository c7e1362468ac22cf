"""OAuth for HTTP servers: tokens in files of the home, and the listener that a browser is sent back to.

The flow itself is the SDK's: discovery, registration, PKCE, refresh.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import calculate_token_expiry
from pydantic import AnyUrl, BaseModel, ValidationError

from tools.mcp.config import McpServerConfig

CALLBACK_PATH = "/callback"
CALLBACK_PORT = 33_418
"""Port of the redirect address where no free one is asked for: a registered client names its address once."""
MAX_REQUEST_LINE = 16_384
CLIENT_NAME = "Groundwork"

ShowUrl: TypeAlias = Callable[[str], Awaitable[None]]
_PAGE = b"<!doctype html><meta charset=utf-8><title>Groundwork</title><p>You are logged in; close this page."


class _Stored(BaseModel):
    tokens: OAuthToken | None = None
    expires_at: float | None = None
    client: OAuthClientInformationFull | None = None
    issuer: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None


class TokenFile:
    """Tokens and registration of one server in a file that its owner alone can read."""

    def __init__(self, folder: Path, url: str) -> None:
        # By address, not by name: a token must never go to another server that took over the name.
        self.path = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"

    @property
    def exists(self) -> bool:
        """Whether somebody logged in."""
        return self._read().tokens is not None

    def delete(self) -> None:
        """Forget tokens and registration."""
        self.path.unlink(missing_ok=True)

    async def get_tokens(self) -> OAuthToken | None:
        """See ``mcp.client.auth.TokenStorage``."""
        return self._read().tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """See ``mcp.client.auth.TokenStorage``."""
        expires_at = calculate_token_expiry(tokens.expires_in)
        self._write(self._read().model_copy(update={"tokens": tokens, "expires_at": expires_at}))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """See ``mcp.client.auth.TokenStorage``."""
        return self._read().client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """See ``mcp.client.auth.TokenStorage``."""
        self._write(self._read().model_copy(update={"client": client_info}))

    def keep_issuer(self, provider: OAuthClientProvider) -> None:
        """Keep where tokens are refreshed, which the SDK learns at a login and would not learn again."""
        found = {"issuer": provider.context.oauth_metadata, "resource": provider.context.protected_resource_metadata}
        self._write(self._read().model_copy(update=found))

    def prepare(self, provider: OAuthClientProvider) -> OAuthClientProvider:
        """The provider, knowing when the tokens run out and where they are refreshed."""
        stored = self._read()
        provider.context.oauth_metadata = stored.issuer
        provider.context.protected_resource_metadata = stored.resource
        provider.context.token_expiry_time = stored.expires_at
        return provider

    def _read(self) -> _Stored:
        try:
            return _Stored.model_validate_json(self.path.read_bytes())
        except (OSError, ValidationError):
            return _Stored()

    def _write(self, stored: _Stored) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(stored.model_dump_json(exclude_none=True))
        scratch.replace(self.path)


def stored_login(folder: Path) -> Callable[[str, McpServerConfig], httpx2.Auth | None]:
    """Proof from the token files; refreshes tokens, and asks for a login in a sentence instead of opening a browser."""

    def auth(name: str, config: McpServerConfig) -> httpx2.Auth | None:
        storage = TokenFile(folder, config.url)
        if not storage.exists:
            return None

        async def refuse(_url: str) -> None:
            raise OAuthFlowError(f"its login has run out; run groundwork mcp login {name}")

        async def never() -> AuthorizationCodeResult:
            raise OAuthFlowError(f"run groundwork mcp login {name}")

        provider = OAuthClientProvider(
            config.url, _metadata(config, CALLBACK_PORT), storage, redirect_handler=refuse, callback_handler=never
        )
        return storage.prepare(provider)

    return auth


@asynccontextmanager
async def browser_login(
    config: McpServerConfig, storage: TokenFile, *, show_url: ShowUrl, port: int = CALLBACK_PORT
) -> AsyncGenerator[OAuthClientProvider]:
    """Proof by a person in a browser, who is sent back to a listener on this machine.

    Args:
        config: The server.
        storage: Where the tokens go.
        show_url: Shows the address that the person has to open.
        port: Port of the listener; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[AuthorizationCodeResult] = loop.create_future()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        found = _redirect(line.decode("latin-1"))
        status = b"200 OK" if found else b"404 Not Found"
        body = _PAGE if found else b""
        head = b"Content-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
        writer.write(b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n" + body)
        await writer.drain()
        writer.close()
        if found and not result.done():
            result.set_result(found) if found.code else result.set_exception(OAuthFlowError("the login was refused"))

    async def wait() -> AuthorizationCodeResult:
        return await result

    server = await asyncio.start_server(receive, "127.0.0.1", port, limit=MAX_REQUEST_LINE)
    async with server:
        chosen = int(server.sockets[0].getsockname()[1])
        yield OAuthClientProvider(
            config.url, _metadata(config, chosen), storage, redirect_handler=show_url, callback_handler=wait
        )


def _redirect(request_line: str) -> AuthorizationCodeResult | None:
    """What the browser brings back; an empty code for a refusal, None for any other request."""
    parts = request_line.split(" ")
    url = urlsplit(parts[1]) if len(parts) == 3 and parts[0] == "GET" else urlsplit("")
    query = parse_qs(url.query)
    if url.path != CALLBACK_PATH or not ("code" in query or "error" in query):
        return None
    first = {name: values[0] for name, values in query.items()}
    return AuthorizationCodeResult(code=first.get("code", ""), state=first.get("state"), iss=first.get("iss"))


def _metadata(config: McpServerConfig, port: int) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name=CLIENT_NAME,
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{CALLBACK_PATH}")],
        scope=" ".join(config.scopes) or None,
        token_endpoint_auth_method="none",
    )
