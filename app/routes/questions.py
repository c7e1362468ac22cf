"""Questions of MCP servers: what they ask, and the answer."""

from __future__ import annotations

from fastapi import APIRouter

from app.actor import ActorDep
from app.openapi import problems
from app.question_schema import QuestionAnswer, QuestionList
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api/questions", tags=["approvals"])


@router.get("", operation_id="list_questions")
async def list_questions(platform: PlatformDep) -> QuestionList:
    """What servers ask people in the middle of calls, oldest first; of this process alone."""
    return await platform.questions.list()


@router.post(
    "/{question_id}/answer", status_code=204, operation_id="answer_question", responses=problems(403, 404, 422)
)
async def answer_question(question_id: str, answer: QuestionAnswer, platform: PlatformDep, actor: ActorDep) -> None:
    """Answer a question. The first answer stands; a later one is 404."""
    platform.questions.answer(question_id, answer, actor=actor)
