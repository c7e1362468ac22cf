"""Long-term memory: a person reads, adds, edits and deletes what is remembered about them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from app.actor import ActorDep
from app.memory_schema import FactCreate, FactEdit, FactList
from app.openapi import problems
from app.routes.platform import PlatformDep
from tools.facts import Fact
from tools.memory import MAX_FACTS, FactStore

router = APIRouter(prefix="/api/memory", tags=["memory"])


def _facts_of(platform: PlatformDep) -> FactStore:
    return FactStore(platform.engine)


_FactsDep = Annotated[FactStore, Depends(_facts_of)]


@router.get("", operation_id="list_facts", responses=problems(403))
async def list_facts(facts: _FactsDep, user: ActorDep) -> FactList:
    """What is remembered about the caller: pinned facts first, then the latest."""
    return FactList(facts=await facts.list(user), max_facts=MAX_FACTS)


@router.post("", status_code=201, operation_id="add_fact", responses=problems(403, 409, 422))
async def add_fact(request: FactCreate, facts: _FactsDep, user: ActorDep) -> Fact:
    """Remember a fact; one that is known word for word is returned as it stands. 409 when the memory is full."""
    return await facts.add(user, request.text, pinned=request.pinned)


@router.patch("/{fact_id}", operation_id="edit_fact", responses=problems(403, 404, 422))
async def edit_fact(fact_id: str, request: FactEdit, facts: _FactsDep, user: ActorDep) -> Fact:
    """Change the words or the pin of a fact."""
    return await facts.edit(user, fact_id, text=request.text, pinned=request.pinned)


@router.delete("/{fact_id}", operation_id="delete_fact", responses=problems(403, 404))
async def delete_fact(fact_id: str, facts: _FactsDep, user: ActorDep) -> Fact:
    """Forget a fact; returns what it was."""
    return await facts.delete(user, fact_id)
