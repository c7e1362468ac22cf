"""Threads: create, list, show, delete."""

from __future__ import annotations

from fastapi import APIRouter

from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import ThreadCreate, ThreadDetail, ThreadInfo, ThreadList

router = APIRouter(prefix="/api/threads", tags=["threads"])


@router.post("", status_code=201, operation_id="create_thread", responses=problems(422))
async def create_thread(request: ThreadCreate, platform: PlatformDep) -> ThreadInfo:
    """A new thread without runs."""
    return await platform.threads.create(request.title)


@router.get("", operation_id="list_threads")
async def list_threads(platform: PlatformDep) -> ThreadList:
    """Threads of people, latest activity first."""
    return ThreadList(threads=await platform.threads.list())


@router.get("/{thread_id}", operation_id="get_thread", responses=problems(404))
async def get_thread(thread_id: str, platform: PlatformDep) -> ThreadDetail:
    """A thread with its runs, oldest first."""
    thread = await platform.threads.get(thread_id)
    return ThreadDetail(thread=thread, runs=await platform.runs.of_thread(thread_id))


@router.delete("/{thread_id}", status_code=204, operation_id="delete_thread", responses=problems(404))
async def delete_thread(thread_id: str, platform: PlatformDep) -> None:
    """Stop the thread's run, reject its waiting calls, and delete the thread with all runs and events.

    Calls and their audit trail stay.
    """
    await platform.runs.cancel_thread(thread_id)
    await platform.approvals.end_thread(thread_id)
    await platform.threads.delete(thread_id)
