"""Threads: create, list, show, change, delete."""

from __future__ import annotations

from fastapi import APIRouter

from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import ThreadChange, ThreadCreate, ThreadDetail, ThreadInfo, ThreadList

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


@router.patch("/{thread_id}", operation_id="change_thread", responses=problems(404, 422))
async def change_thread(thread_id: str, request: ThreadChange, platform: PlatformDep) -> ThreadInfo:
    """Give the thread a preset, which its questions take that name none, or take it off."""
    if request.preset is None:
        return await platform.threads.get(thread_id)
    if request.preset:
        await platform.presets.store.get(request.preset)
    return await platform.threads.set_preset(thread_id, request.preset)


@router.delete("/{thread_id}", status_code=204, operation_id="delete_thread", responses=problems(404))
async def delete_thread(thread_id: str, platform: PlatformDep) -> None:
    """Stop the thread's run, reject its waiting calls, and delete the thread with all runs and events.

    Calls and their audit trail stay.
    """
    await platform.runs.cancel_thread(thread_id)
    await platform.approvals.end_thread(thread_id)
    await platform.threads.delete(thread_id)
