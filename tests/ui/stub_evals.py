"""The part of the stand-in API that evaluations and kept questions are served from."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.eval_compare import compare_cases
from app.eval_schema import (
    EvalCase,
    EvalDetail,
    EvalPassage,
    EvalQuestion,
    EvalRequest,
    EvalRun,
    EvalRunList,
    EvalSummary,
    KeepRequest,
    KeptQuestion,
    KeptQuestionList,
    label_of,
)
from tests.ui.stub_calls import json_response, problem

AT = "2026-01-05T10:00:00.000000+00:00"


def eval_case(question_id: str, *, passed: bool, text: str = "What does exit code 137 mean?") -> EvalCase:
    """A case with one passage."""
    passage = EvalPassage(
        rank=1,
        chunk_id="chunk-1",
        document_id="doc-1",
        source="/docs/memory.md",
        title="Memory",
        text="It was killed.",
        relevant=passed,
    )
    return EvalCase(
        question_id=question_id,
        kind="lookup",
        answerable=True,
        question=text,
        values={"answer_match": float(passed)},
        passed=passed,
        why_not="" if passed else "The answer lacks '137'.",
        status="answered",
        answer="It was killed.",
        expected="OOMKilled.",
        passages=(passage,),
    )


def eval_detail(
    eval_id: str, *passed: bool, state: str = "done", text: str = "What does exit code 137 mean?"
) -> EvalDetail:
    """An evaluation of as many questions."""
    share = sum(passed) / max(len(passed), 1)
    run = EvalRun.model_validate(
        {
            "eval_id": eval_id,
            "kind": "answers",
            "name": f"set {eval_id}",
            "state": state,
            "created_at": AT,
            "updated_at": AT,
            "total": max(len(passed), 1),
            "done": len(passed),
            "config": {"model": "qwen", "search": {"fusion": "dbsf"}},
            "summary": EvalSummary(
                metrics={"questions": float(len(passed)), "answer_match": share, "latency_ms.p50": 21_000.0},
                by_kind={"lookup": {"questions": float(len(passed)), "answer_match": share}},
            ),
        }
    )
    return EvalDetail(run=run, cases=[eval_case(f"q{n}", passed=good, text=text) for n, good in enumerate(passed, 1)])


@dataclass
class EvalState:
    """Evaluations and kept questions."""

    details: dict[str, EvalDetail] = field(default_factory=dict[str, EvalDetail])
    kept: dict[str, KeptQuestion] = field(default_factory=dict[str, KeptQuestion])
    started: list[EvalRequest] = field(default_factory=list[EvalRequest])
    stopped: list[str] = field(default_factory=list[str])


def eval_routes(state: EvalState) -> list[Route]:
    """Routes over that state."""
    api = _Evals(state)
    return [
        Route("/api/evals", api.runs, methods=["GET", "POST"]),
        Route("/api/evals/questions", api.questions, methods=["GET", "POST"]),
        Route("/api/evals/questions/{question_id}", api.question, methods=["PUT", "DELETE"]),
        Route("/api/evals/compare", api.compare),
        Route("/api/evals/{eval_id}", api.one, methods=["GET", "DELETE"]),
        Route("/api/evals/{eval_id}/progress", api.progress),
        Route("/api/evals/{eval_id}/stop", api.stop, methods=["POST"]),
    ]


class _Evals:
    def __init__(self, state: EvalState) -> None:
        self.state = state

    async def runs(self, request: Request) -> Response:
        if request.method == "POST":
            wanted = EvalRequest.model_validate_json(await request.body())
            self.state.started.append(wanted)
            detail = eval_detail(f"new-{len(self.state.started)}")
            self.state.details[detail.run.eval_id] = detail
            return json_response(detail.run, 202)
        return json_response(EvalRunList(runs=[detail.run for detail in self.state.details.values()]))

    async def one(self, request: Request) -> Response:
        detail = self.state.details.get(request.path_params["eval_id"])
        if detail is None:
            return problem(404, "eval_unknown", "There is no such evaluation.")
        if request.method == "DELETE":
            del self.state.details[detail.run.eval_id]
            return Response(status_code=204)
        return json_response(detail)

    async def progress(self, request: Request) -> Response:
        return json_response(self.state.details[request.path_params["eval_id"]].run)

    async def stop(self, request: Request) -> Response:
        self.state.stopped.append(request.path_params["eval_id"])
        return json_response(self.state.details[request.path_params["eval_id"]].run)

    async def compare(self, request: Request) -> Response:
        first, second = (self.state.details[request.query_params[name]] for name in ("first", "second"))
        return json_response(
            compare_cases(first.cases, second.cases, names=(label_of(first.run), label_of(second.run)))
        )

    async def questions(self, request: Request) -> Response:
        if request.method == "POST":
            run_id = KeepRequest.model_validate_json(await request.body()).run_id
            question = EvalQuestion(id=f"chat-{run_id}", question="Why did it restart?", must_contain=("137",))
            self.state.kept[question.id] = KeptQuestion(question=question, run_id=run_id, created_at=AT)
            return json_response(self.state.kept[question.id], 201)
        return json_response(KeptQuestionList(questions=list(self.state.kept.values())))

    async def question(self, request: Request) -> Response:
        kept = self.state.kept[request.path_params["question_id"]]
        if request.method == "DELETE":
            del self.state.kept[kept.question.id]
            return Response(status_code=204)
        changed = EvalQuestion.model_validate_json(await request.body())
        self.state.kept[changed.id] = kept.model_copy(update={"question": changed})
        return json_response(self.state.kept[changed.id])
