"""Who acts: the person of this machine, or the one whom a trusted proxy names in a header.

Knows no accounts: the proxy has proved who it is, this module decides whether to believe the header.
"""

from __future__ import annotations

import secrets
from ipaddress import ip_address
from typing import Annotated

from fastapi import Depends, Request

from app.client import TOKEN_HEADER
from app.errors import UserUnknown
from app.routes.platform import PlatformDep
from app.settings import ServerSettings
from tools.ledger import CLOCK_ACTOR, GROUNDWORK_ACTOR, POLICY_ACTOR

LOCAL_ACTOR = "local"
"""Everybody, while no proxy names people; always the holder of the home's local token."""
_NOT_PEOPLE = frozenset({POLICY_ACTOR, GROUNDWORK_ACTOR, CLOCK_ACTOR, "model"})
"""Actors of the audit trail that no header may pretend to be."""
_MAX_NAME = 200


def acting_user(request: Request, platform: PlatformDep) -> str:
    """Name for decisions, grants and the audit trail.

    Raises:
        UserUnknown: ``[server] user_header`` is set and the request does not come through a trusted proxy that names
            a user, nor from a holder of the local token.
    """
    server = platform.settings.server
    if not server.user_header:
        return LOCAL_ACTOR
    token = request.headers.get(TOKEN_HEADER, "")
    if secrets.compare_digest(token.encode(), platform.local_token.encode()):
        return LOCAL_ACTOR
    name = request.headers.get(server.user_header, "").strip()
    if not name or not _trusted(request, server):
        raise UserUnknown(
            f"Decisions need a user: send them through the proxy that sets the header {server.user_header!r}, or from "
            "the command line of this machine."
        )
    if len(name) > _MAX_NAME or not name.isprintable() or name in _NOT_PEOPLE:
        raise UserUnknown(f"The header {server.user_header!r} names no person; check the proxy.")
    return name


def _trusted(request: Request, server: ServerSettings) -> bool:
    if request.client is None:
        return False
    address = ip_address(request.client.host)
    return any(address in proxy for proxy in server.trusted_proxies)


ActorDep = Annotated[str, Depends(acting_user)]
