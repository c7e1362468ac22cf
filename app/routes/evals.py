"""Evaluations: start, list, show, compare, stop; each question is there as soon as it has been measured."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from app.asking import search_scope
from app.eval_compare import compare_cases
from app.eval_schema import EvalComparison, EvalDetail, EvalRequest, EvalRun, EvalRunList, label_of
from app.openapi import problems
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api/evals", tags=["evals"])


@router.post("", status_code=202, operation_id="start_eval", responses=problems(404, 422))
async def start_eval(request: EvalRequest, platform: PlatformDep) -> EvalRun:
    """Measure search or answers over a question set in the background, one evaluation after the other.

    A run of the same questions, settings and documents that was not finished is gone on with, unless `fresh` is set.
    """
    scope = await search_scope(platform.ledger, request.collections, {})
    return await platform.evaluations.start(request, search_filter=scope)


@router.get("", operation_id="list_evals")
async def list_evals(platform: PlatformDep) -> EvalRunList:
    """Evaluations, newest first."""
    return EvalRunList(runs=await platform.evaluations.store.list())


@router.get("/compare", operation_id="compare_evals", responses=problems(404))
async def compare_evals(first: str, second: str, platform: PlatformDep) -> EvalComparison:
    """The second evaluation against the first, question by question, with intervals and p-values."""
    before, after = await platform.evaluations.detail(first), await platform.evaluations.detail(second)
    names = (label_of(before.run), label_of(after.run))
    return await asyncio.to_thread(compare_cases, before.cases, after.cases, names=names)


@router.get("/{eval_id}", operation_id="get_eval", responses=problems(404))
async def get_eval(eval_id: str, platform: PlatformDep) -> EvalDetail:
    """An evaluation with its questions."""
    return await platform.evaluations.detail(eval_id)


@router.get("/{eval_id}/progress", operation_id="get_eval_progress", responses=problems(404))
async def get_eval_progress(eval_id: str, platform: PlatformDep) -> EvalRun:
    """An evaluation without its questions."""
    return await platform.evaluations.store.get(eval_id)


@router.post("/{eval_id}/stop", operation_id="stop_eval", responses=problems(404))
async def stop_eval(eval_id: str, platform: PlatformDep) -> EvalRun:
    """End an evaluation before its next question."""
    return await platform.evaluations.stop(eval_id)


@router.delete("/{eval_id}", status_code=204, operation_id="delete_eval", responses=problems(404))
async def delete_eval(eval_id: str, platform: PlatformDep) -> None:
    """Delete an evaluation with its questions."""
    await platform.evaluations.store.delete(eval_id)
