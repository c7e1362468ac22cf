"""Calls of the API about approvals, grants and the audit trail."""

from __future__ import annotations

from collections.abc import Sequence

from app.approval_schema import (
    Approval,
    ApprovalCard,
    ApprovalList,
    AuditTrail,
    DecisionRequest,
    GrantInfo,
    GrantList,
    RejectRunRequest,
    SettlementRequest,
)
from tools.calls import CallState
from ui.api_http import HttpApi, segment


class ApprovalCalls:
    """What waits for a person, and what a person says. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def list(
        self, *, states: Sequence[CallState] = (), thread_id: str = "", run_id: str = "", limit: int = 200
    ) -> ApprovalList:
        """What waits, or the newest calls in some states; with the counts of all that waits."""
        query = {"state": list(states), "thread_id": thread_id, "run_id": run_id, "limit": limit}
        return self._http.get("/api/approvals", ApprovalList, query=query)

    def card(self, call_id: str) -> ApprovalCard:
        """Everything known of a call; may wait for the call's server."""
        return self._http.get(f"/api/approvals/{segment(call_id)}", ApprovalCard)

    def decide(self, call_id: str, request: DecisionRequest) -> Approval:
        """Decide a call; ``ApiRefused`` with the status 409 when somebody was quicker."""
        return self._http.send("POST", f"/api/approvals/{segment(call_id)}/decision", Approval, body=request)

    def settle(self, call_id: str, request: SettlementRequest) -> Approval:
        """Say what became of a call whose outcome is unknown."""
        return self._http.send("POST", f"/api/approvals/{segment(call_id)}/settlement", Approval, body=request)

    def reject_run(self, run_id: str, *, reason: str = "") -> ApprovalList:
        """Reject every undecided call of a run; returns those."""
        request = RejectRunRequest(run_id=run_id, reason=reason)
        return self._http.send("POST", "/api/approvals/rejections", ApprovalList, body=request)

    def grants(self) -> list[GrantInfo]:
        """Standing grants, oldest first."""
        return self._http.get("/api/grants", GrantList).grants

    def revoke(self, grant_id: str) -> None:
        """Take a grant back."""
        self._http.delete(f"/api/grants/{segment(grant_id)}")

    def audit(self, *, after: int = 0, limit: int = 1000) -> AuditTrail:
        """A page of the audit trail, oldest first."""
        return self._http.get("/api/approvals/audit", AuditTrail, query={"after": after, "limit": limit})

    def audit_csv(self) -> bytes:
        """The whole audit trail as CSV."""
        return self._http.get_bytes("/api/approvals/audit", query={"format": "csv"})
