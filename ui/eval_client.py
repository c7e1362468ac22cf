"""Calls of the API about evaluations and the questions kept for them."""

from __future__ import annotations

from app.eval_schema import (
    EvalComparison,
    EvalDetail,
    EvalQuestion,
    EvalRequest,
    EvalRun,
    EvalRunList,
    KeepRequest,
    KeptQuestion,
    KeptQuestionList,
)
from ui.api_http import HttpApi, segment


class EvalCalls:
    """Evaluations. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def start(self, request: EvalRequest) -> EvalRun:
        """Measure a question set in the background."""
        return self._http.send("POST", "/api/evals", EvalRun, body=request)

    def runs(self) -> list[EvalRun]:
        """Evaluations, newest first."""
        return self._http.get("/api/evals", EvalRunList).runs

    def detail(self, eval_id: str) -> EvalDetail:
        """An evaluation with its questions."""
        return self._http.get(f"/api/evals/{segment(eval_id)}", EvalDetail)

    def progress(self, eval_id: str) -> EvalRun:
        """An evaluation without its questions."""
        return self._http.get(f"/api/evals/{segment(eval_id)}/progress", EvalRun)

    def compare(self, first: str, second: str) -> EvalComparison:
        """The second evaluation against the first."""
        return self._http.get("/api/evals/compare", EvalComparison, query={"first": first, "second": second})

    def stop(self, eval_id: str) -> EvalRun:
        """End an evaluation before its next question."""
        return self._http.send("POST", f"/api/evals/{segment(eval_id)}/stop", EvalRun)

    def delete(self, eval_id: str) -> None:
        """Delete an evaluation with its questions."""
        self._http.delete(f"/api/evals/{segment(eval_id)}")

    def kept(self) -> list[KeptQuestion]:
        """Questions kept from chats, oldest first."""
        return self._http.get("/api/evals/questions", KeptQuestionList).questions

    def keep(self, run_id: str) -> KeptQuestion:
        """Keep the question of a run."""
        return self._http.send("POST", "/api/evals/questions", KeptQuestion, body=KeepRequest(run_id=run_id))

    def change(self, question: EvalQuestion) -> KeptQuestion:
        """Change a kept question."""
        return self._http.send("PUT", f"/api/evals/questions/{segment(question.id)}", KeptQuestion, body=question)

    def forget(self, question_id: str) -> None:
        """Forget a kept question."""
        self._http.delete(f"/api/evals/questions/{segment(question_id)}")
