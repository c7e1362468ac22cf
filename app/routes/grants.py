"""Standing grants: list, give, revoke."""

from __future__ import annotations

from fastapi import APIRouter

from app.actor import ActorDep
from app.approval_schema import GrantInfo, GrantList, GrantRequest
from app.openapi import problems
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api/grants", tags=["approvals"])


@router.get("", operation_id="list_grants")
async def list_grants(platform: PlatformDep) -> GrantList:
    """Standing grants, oldest first."""
    return await platform.approvals.grants()


@router.post("", status_code=201, operation_id="give_grant", responses=problems(403, 409, 422))
async def give_grant(request: GrantRequest, platform: PlatformDep, actor: ActorDep) -> GrantInfo:
    """Give a grant without a card: for one tool in one chat, or, with patterns over its arguments, in every chat."""
    return await platform.approvals.give_grant(request, actor=actor)


@router.delete("/{grant_id}", status_code=204, operation_id="revoke_grant", responses=problems(403, 404))
async def revoke_grant(grant_id: str, platform: PlatformDep, actor: ActorDep) -> None:
    """Take a grant back; calls are asked for again from now on."""
    await platform.approvals.revoke_grant(grant_id, actor=actor)
