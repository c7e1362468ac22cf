"""Is the process there, is every part ready, what has it done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

import sqlalchemy as sa
from fastapi import APIRouter, Response
from sqlalchemy.exc import SQLAlchemyError

from agents.errors import AgentError
from app.errors import AppError
from app.routes.platform import PlatformDep
from app.schema import Health, Readiness
from app.wiring import Platform
from retrieval.errors import RetrievalError
from retrieval.types import SearchFilter

router = APIRouter(tags=["health"])

_PART_SECONDS = 3.0
"""Longest wait for one part; a prober that waits longer learns no more."""


@router.get("/healthz", operation_id="health")
async def health() -> Health:
    """The process answers."""
    return Health()


@router.get(
    "/readyz", operation_id="readiness", responses={503: {"model": Readiness, "description": "A part is not ready."}}
)
async def readiness(platform: PlatformDep, response: Response) -> Readiness:
    """State of database, store, embedding and model; 503 unless all are ready."""
    names: list[Literal["database", "store", "embedding", "model"]] = ["database", "store", "embedding", "model"]
    checks = (_check_database, _check_store, _check_embedding, _check_model)
    states = await asyncio.gather(*(_state(check, platform) for check in checks))
    ready = all(state == "ready" for state in states)
    response.status_code = 200 if ready else 503
    return Readiness(ready=ready, parts=dict(zip(names, states, strict=True)))


@router.get("/metrics", operation_id="metrics", response_class=Response)
async def metrics(platform: PlatformDep) -> Response:
    """Counters and histograms in Prometheus' text format."""
    return Response(platform.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _state(check: Callable[[Platform], Awaitable[None]], platform: Platform) -> str:
    try:
        async with asyncio.timeout(_PART_SECONDS):
            await check(platform)
    except TimeoutError:
        return "No answer yet; it may still be starting."
    except SQLAlchemyError:
        return "The database does not answer; check its server and the free disk space."
    except (AppError, AgentError, RetrievalError) as error:
        return str(error)
    return "ready"


async def _check_database(platform: Platform) -> None:
    async with platform.engine.connect() as connection:
        await connection.execute(sa.text("SELECT 1"))


async def _check_store(platform: Platform) -> None:
    await asyncio.to_thread(platform.store.count, SearchFilter(document_ids=("none",)))


async def _check_embedding(platform: Platform) -> None:
    await asyncio.to_thread(platform.embedder.embed_query, "ready")


async def _check_model(platform: Platform) -> None:
    await platform.chat_model.check()
