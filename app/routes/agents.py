"""Agents: who can act."""

from __future__ import annotations

from fastapi import APIRouter

from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import AgentList

router = APIRouter(prefix="/api/agents", tags=["agents"])


@router.get("", operation_id="list_agents", responses=problems(422))
async def list_agents(platform: PlatformDep) -> AgentList:
    """The agents that a run can be given to, as ``agents.toml`` declares them now."""
    return platform.agents.list()
