"""Questions of servers: answered by the first person, checked against their form, void with their call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.database import open_database
from app.errors import QuestionUnknown
from app.question_schema import Question, QuestionAnswer
from app.questions import QuestionInbox
from app.settings import Settings
from tools.elicitation import Elicitation, ElicitationAnswer
from tools.errors import ArgumentsInvalid
from tools.ledger import ExecutionLedger

FORM = Elicitation(
    "cluster",
    "drain_node",
    "no-such-call",
    "Which node?",
    schema={"type": "object", "properties": {"node": {"type": "string"}}, "required": ["node"]},
)


@pytest.fixture
async def ledger(settings: Settings) -> AsyncGenerator[ExecutionLedger]:
    settings.home_path.mkdir(exist_ok=True)
    async with open_database(settings) as engine:
        yield ExecutionLedger(engine)


async def asked(inbox: QuestionInbox) -> Question:
    """The one open question; the task that asks it gets its turn first."""
    await asyncio.sleep(0)
    (question,) = (await inbox.list()).questions
    return question


async def test_first_answer_that_fits_the_form_is_the_answer(ledger: ExecutionLedger) -> None:
    inbox = QuestionInbox(ledger, seconds=60)
    asking = asyncio.create_task(inbox.ask(FORM))
    question = await asked(inbox)
    assert (question.message, question.tool, question.run_id) == ("Which node?", "drain_node", "")

    with pytest.raises(ArgumentsInvalid):
        inbox.answer(question.question_id, QuestionAnswer(action="accept", content={"node": 7}), actor="ada")
    inbox.answer(question.question_id, QuestionAnswer(action="accept", content={"node": "n1"}), actor="ada")
    with pytest.raises(QuestionUnknown):
        inbox.answer(question.question_id, QuestionAnswer(action="decline"), actor="ben")

    assert await asking == ElicitationAnswer("accept", {"node": "n1"})
    assert (await inbox.list()).questions == []


async def test_question_that_nobody_answers_is_cancelled(ledger: ExecutionLedger) -> None:
    assert await QuestionInbox(ledger, seconds=0).ask(FORM) == ElicitationAnswer("cancel")


async def test_question_is_void_when_its_call_ends(ledger: ExecutionLedger) -> None:
    inbox = QuestionInbox(ledger, seconds=60)
    asking = asyncio.create_task(inbox.ask(FORM))
    question = await asked(inbox)

    asking.cancel()
    await asyncio.wait([asking])

    with pytest.raises(QuestionUnknown):
        inbox.answer(question.question_id, QuestionAnswer(action="cancel"), actor="ada")
