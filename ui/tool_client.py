"""Calls of the API about tools, their servers and what servers ask."""

from __future__ import annotations

from pydantic import RootModel

from app.question_schema import Question, QuestionAnswer, QuestionList
from app.tool_schema import (
    CompletionAsk,
    CompletionValues,
    PromptFill,
    PromptListing,
    PromptText,
    ResourceListing,
    ResourceText,
    ServerInfo,
    ToolInfo,
    ToolListing,
    ToolReview,
    ToolSwitch,
)
from ui.api_http import HttpApi, segment


class _Servers(RootModel[list[ServerInfo]]):
    """The body of the list of servers."""


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

    def servers(self) -> list[ServerInfo]:
        """Servers and their health; starts none."""
        return self._http.get("/api/tools/servers", _Servers).root

    def resources(self, server: str) -> ResourceListing:
        """What a server has to read; waits for one that starts."""
        return self._http.get(f"/api/tools/servers/{segment(server)}/resources", ResourceListing)

    def read_resource(self, server: str, uri: str) -> ResourceText:
        """One resource."""
        return self._http.get(f"/api/tools/servers/{segment(server)}/resource", ResourceText, query={"uri": uri})

    def prompts(self, server: str) -> PromptListing:
        """A server's prompts; waits for one that starts."""
        return self._http.get(f"/api/tools/servers/{segment(server)}/prompts", PromptListing)

    def fill_prompt(self, server: str, name: str, blanks: PromptFill) -> PromptText:
        """A prompt with its blanks filled in."""
        path = f"/api/tools/servers/{segment(server)}/prompts/{segment(name)}"
        return self._http.send("POST", path, PromptText, body=blanks)

    def complete(self, server: str, asked: CompletionAsk) -> CompletionValues:
        """What a server suggests for a blank."""
        path = f"/api/tools/servers/{segment(server)}/completions"
        return self._http.send("POST", path, CompletionValues, body=asked)
