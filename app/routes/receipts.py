"""Receipts: an answer as one file."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.openapi import problems
from app.receipts.schema import Receipt, file_name
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api", tags=["runs"])


@router.get("/runs/{run_id}/receipt", operation_id="get_receipt", responses=problems(404, 409))
async def get_receipt(run_id: str, platform: PlatformDep, response: Response) -> Receipt:
    """A run's answer as one file that `groundwork verify` checks: claims, quotes, sources, settings, signed.

    409 while the run has no answer.
    """
    receipt = await platform.receipts.write(run_id)
    response.headers["Content-Disposition"] = f'attachment; filename="{file_name(run_id)}"'
    return receipt
