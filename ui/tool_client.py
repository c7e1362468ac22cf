"""Calls of the API about tools, their servers and what servers ask."""

from __future__ import annotations

from app.question_schema import Question, QuestionAnswer, QuestionList
from app.tool_schema import ServerInfo, ToolInfo, ToolListing, ToolReview, ToolSwitch
from ui.api_http import HttpApi, segment


class ToolCalls:
    """Servers, tools and their reviews. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def listing(self, *, wait: bool = False) -> ToolListing:
        """Servers and tools as they stand; ``wait`` for those that start slowly."""
        return self._http.get("/api/tools", ToolListing, query={"wait": "true"} if wait else None)

    def review(self, review: ToolReview) -> ToolInfo:
        """Let a definition in, or not; ``ApiRefused`` with the status 409 when it has changed meanwhile."""
        return self._http.send("POST", "/api/tools/reviews", ToolInfo, body=review)

    def switch(self, switch: ToolSwitch) -> ToolInfo:
        """Switch a reviewed tool on or off."""
        return self._http.send("POST", "/api/tools/enabled", ToolInfo, body=switch)

    def questions(self) -> list[Question]:
        """What servers ask people, oldest first."""
        return self._http.get("/api/questions", QuestionList).questions

    def answer(self, question_id: str, answer: QuestionAnswer) -> None:
        """Answer a question; ``ApiRefused`` with the status 404 when somebody was quicker."""
        self._http.post(f"/api/questions/{segment(question_id)}/answer", body=answer)

    def restart(self, server: str) -> ServerInfo:
        """End a server's connection and connect anew; waits for it."""
        return self._http.send("POST", f"/api/tools/servers/{segment(server)}/restart", ServerInfo)
