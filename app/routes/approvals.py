"""Approvals: the inbox, one card, decisions, settlements, and the audit trail."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncGenerator, Iterable
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from app.actor import ActorDep
from app.approval_schema import (
    Approval,
    ApprovalCard,
    ApprovalList,
    AuditLine,
    AuditTrail,
    DecisionRequest,
    RejectRunRequest,
    SettlementRequest,
)
from app.approvals import ApprovalService
from app.openapi import problems
from app.routes.platform import PlatformDep
from tools.calls import CallState

router = APIRouter(prefix="/api/approvals", tags=["approvals"])

_CSV_COLUMNS = ("entry", "at", "actor", "event", "call_id", "detail")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet."""


@router.get("", operation_id="list_approvals", responses=problems(422))
async def list_approvals(
    platform: PlatformDep,
    state: Annotated[
        list[CallState], Query(default_factory=list, description="Calls in these states; without it, what waits.")
    ],
    thread_id: Annotated[str, Query(description="Of this thread alone.")] = "",
    run_id: Annotated[str, Query(description="Of this run alone.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> ApprovalList:
    """The inbox: calls to decide and unknown outcomes to settle, with their counts; or the newest in some states."""
    return await platform.approvals.list(states=state, thread_id=thread_id, run_id=run_id, limit=limit)


@router.get("/audit", operation_id="export_audit", response_model=AuditTrail, responses=problems(422))
async def export_audit(
    platform: PlatformDep,
    format: Annotated[Literal["json", "csv"], Query(description="Pages of JSON, or all of it as CSV.")] = "json",
    since: Annotated[datetime | None, Query(description="Lines from this time on; UTC where it has no zone.")] = None,
    after: Annotated[int, Query(ge=0, description="Lines behind this entry.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Lines of one page of JSON.")] = 1000,
) -> AuditTrail | Response:
    """Who did what to which call, when, under which policy line; oldest first."""
    if format == "json":
        return await platform.approvals.audit(since=since, after=after, limit=limit)
    headers = {"Content-Disposition": 'attachment; filename="groundwork-audit.csv"'}
    lines = _csv_lines(platform.approvals, since=since, after=after)
    return StreamingResponse(lines, media_type="text/csv", headers=headers)


@router.post("/rejections", operation_id="reject_run", responses=problems(403, 422))
async def reject_run(request: RejectRunRequest, platform: PlatformDep, actor: ActorDep) -> ApprovalList:
    """Reject every undecided call of a run and return those. There is no such thing for approving."""
    return await platform.approvals.reject_run(request.run_id, actor=actor, reason=request.reason)


@router.get("/{call_id}", operation_id="get_approval", responses=problems(404))
async def get_approval(call_id: str, platform: PlatformDep) -> ApprovalCard:
    """Everything stored of a call, what its tool is now, and its audit trail."""
    return await platform.approvals.card(call_id)


@router.post("/{call_id}/decision", operation_id="decide", responses=problems(403, 404, 409, 422))
async def decide(call_id: str, request: DecisionRequest, platform: PlatformDep, actor: ActorDep) -> Approval:
    """Approve, edit, reject or answer one call. The first decision stands; a later one is 409 and says whose it was."""
    return await platform.approvals.decide(call_id, request, actor=actor)


@router.post("/{call_id}/settlement", operation_id="settle", responses=problems(403, 404, 409, 422))
async def settle(call_id: str, request: SettlementRequest, platform: PlatformDep, actor: ActorDep) -> Approval:
    """Say what became of a call whose outcome is unknown; `try_again` makes it wait for a fresh decision."""
    return await platform.approvals.settle(call_id, request, actor=actor)


async def _csv_lines(approvals: ApprovalService, *, since: datetime | None, after: int) -> AsyncGenerator[str]:
    yield _csv([_CSV_COLUMNS])
    page: AuditTrail | None = None
    while page is None or page.next is not None:
        page = await approvals.audit(since=since, after=after if page is None else page.next or 0)
        yield _csv(_cells(line) for line in page.entries)


def _cells(line: AuditLine) -> list[str]:
    detail = json.dumps(line.detail, sort_keys=True, ensure_ascii=False)
    return [str(line.entry), line.at.isoformat(), line.actor, line.event, line.call_id, detail]


def _csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_plain(cell) for cell in row] for row in rows)
    return text.getvalue()


def _plain(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
