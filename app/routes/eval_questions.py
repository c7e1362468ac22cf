"""Questions kept from chats: one click keeps one, a file of all goes into `eval answers`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import PlainTextResponse

from app.errors import RequestInvalid
from app.eval_questions import KeptQuestions
from app.eval_schema import EvalQuestion, KeepRequest, KeptQuestion, KeptQuestionList
from app.openapi import problems
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api/evals/questions", tags=["evals"])


def _questions_of(platform: PlatformDep) -> KeptQuestions:
    return KeptQuestions(platform.engine)


_QuestionsDep = Annotated[KeptQuestions, Depends(_questions_of)]


@router.get("", operation_id="list_eval_questions")
async def list_eval_questions(questions: _QuestionsDep) -> KeptQuestionList:
    """Kept questions, oldest first."""
    return KeptQuestionList(questions=await questions.list())


@router.post("", status_code=201, operation_id="keep_eval_question", responses=problems(404, 422))
async def keep_eval_question(request: KeepRequest, questions: _QuestionsDep, platform: PlatformDep) -> KeptQuestion:
    """Keep the question of a run with the turns before it, the quotes its answer stands on, and what it must contain.

    An answer that was withheld is kept as a question without an answer, unless `answerable` says otherwise.
    """
    run = await platform.runs.get(request.run_id)
    runs = await platform.runs.of_thread(run.thread_id)
    earlier = [one for one in runs if one.created_at < run.created_at]
    return await questions.keep(run, earlier, request)


@router.get("/export", operation_id="export_eval_questions", response_class=PlainTextResponse)
async def export_eval_questions(questions: _QuestionsDep) -> PlainTextResponse:
    """All kept questions as a question file, one JSON object a line."""
    lines = [kept.question.model_dump_json() for kept in await questions.list()]
    return PlainTextResponse("".join(f"{line}\n" for line in lines), media_type="application/x-ndjson")


@router.put("/{question_id}", operation_id="change_eval_question", responses=problems(404, 422))
async def change_eval_question(question_id: str, question: EvalQuestion, questions: _QuestionsDep) -> KeptQuestion:
    """Change what is asked or expected."""
    if question.id != question_id:
        raise RequestInvalid("The id of a kept question cannot be changed.")
    return await questions.change(question)


@router.delete("/{question_id}", status_code=204, operation_id="forget_eval_question", responses=problems(404))
async def forget_eval_question(question_id: str, questions: _QuestionsDep) -> None:
    """Forget a kept question."""
    await questions.delete(question_id)
