"""Calls of the API about long-term memory."""

from __future__ import annotations

from app.memory_schema import FactCreate, FactEdit, FactList
from tools.facts import Fact
from ui.api_http import HttpApi, segment


class MemoryCalls:
    """What is remembered about the caller. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def facts(self) -> FactList:
        """Pinned facts first, then the latest."""
        return self._http.get("/api/memory", FactList)

    def add(self, text: str, *, pinned: bool = False) -> Fact:
        """Remember a fact."""
        return self._http.send("POST", "/api/memory", Fact, body=FactCreate(text=text, pinned=pinned))

    def edit(self, fact_id: str, change: FactEdit) -> Fact:
        """Change what is set in ``change``."""
        return self._http.send_changes("PATCH", f"/api/memory/{segment(fact_id)}", Fact, body=change)

    def delete(self, fact_id: str) -> Fact:
        """Forget a fact; returns what it was."""
        return self._http.send("DELETE", f"/api/memory/{segment(fact_id)}", Fact)
