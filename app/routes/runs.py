"""Runs: start, show, follow by server-sent events, cancel."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent

from agents.events import RunEvent
from app.actor import ActorDep
from app.asking import ask
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import RunInfo, RunRequest
from app.sse import to_sse

router = APIRouter(prefix="/api", tags=["runs"])


@router.post(
    "/threads/{thread_id}/runs", status_code=202, operation_id="start_run", responses=problems(404, 409, 422, 429)
)
async def start_run(thread_id: str, request: RunRequest, platform: PlatformDep, user: ActorDep) -> RunInfo:
    """Ask in a thread. Returns at once; the run goes on whoever listens. 409 while the thread has another run.

    A run of the thread that waits for a person is ended instead: its calls that have not started are rejected.
    """
    return await ask(platform, thread_id, request, user=user)


@router.get("/runs/{run_id}", operation_id="get_run", responses=problems(404))
async def get_run(run_id: str, platform: PlatformDep) -> RunInfo:
    """A run as it stands."""
    return await platform.runs.get(run_id)


async def _follow(
    run_id: str,
    platform: PlatformDep,
    after: Annotated[int, Query(ge=0, description="Number of the last event that is known.")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, description="As a browser sends it; wins over `after`.")] = None,
) -> AsyncGenerator[RunEvent]:
    return await platform.runs.follow(run_id, after=after if last_event_id is None else last_event_id)


@router.get(
    "/runs/{run_id}/events",
    operation_id="follow_run",
    response_class=EventSourceResponse,
    responses=problems(404, 422),
)
async def follow_run(
    events: Annotated[AsyncGenerator[RunEvent], Depends(_follow)],
) -> AsyncIterable[ServerSentEvent]:
    """Events after a number: those in the log, then those to come, up to the terminal one.

    Each has its number as `id`, its type as `event` and itself as JSON `data`. Comments keep the connection open.
    Detaching does not stop the run.
    """
    async for event in events:
        yield to_sse(event)


@router.post("/runs/{run_id}/cancel", operation_id="cancel_run", responses=problems(404))
async def cancel_run(run_id: str, platform: PlatformDep) -> RunInfo:
    """Stop a run, its model included, and return how it ended; a run that had ended is returned as it is."""
    return await platform.runs.cancel(run_id)
