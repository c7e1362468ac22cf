"""Questions that MCP servers ask in the middle of a call, brought to whoever looks at the inbox.

A question lives as long as the call that waits for it, in the process that carries the call out: when either ends, it
is void. Knows no server.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from app.errors import QuestionUnknown
from app.question_schema import Question, QuestionAnswer, QuestionList
from tools.elicitation import Elicitation, ElicitationAnswer, fill_form
from tools.errors import CallUnknown
from tools.ledger import ExecutionLedger

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Open:
    elicitation: Elicitation
    asked_at: datetime
    answer: asyncio.Future[ElicitationAnswer]


class QuestionInbox:
    """Open questions and their answers; a ``tools.elicitation.ElicitationBroker``. Belongs to one event loop."""

    def __init__(self, ledger: ExecutionLedger, *, seconds: float) -> None:
        self._ledger = ledger
        self._seconds = seconds
        self._open: dict[str, _Open] = {}

    async def ask(self, elicitation: Elicitation) -> ElicitationAnswer:
        """The first answer that somebody gives; ``cancel`` when nobody does in time."""
        question_id = uuid4().hex
        answer: asyncio.Future[ElicitationAnswer] = asyncio.get_running_loop().create_future()
        self._open[question_id] = _Open(elicitation, datetime.now(UTC), answer)
        logger.info("Server asks a person", extra={"server": elicitation.server, "call_id": elicitation.call_id})
        try:
            async with asyncio.timeout(self._seconds):
                return await answer
        except TimeoutError:
            return ElicitationAnswer("cancel")
        finally:
            del self._open[question_id]

    async def list(self) -> QuestionList:
        """Open questions, oldest first."""
        return QuestionList(questions=[await self._question(key, asked) for key, asked in list(self._open.items())])

    def answer(self, question_id: str, given: QuestionAnswer, *, actor: str) -> None:
        """Answer a question; the first answer stands.

        Raises:
            QuestionUnknown: There is no such question, or somebody has answered it.
            ArgumentsInvalid: Values do not fit the form.
        """
        asked = self._open.get(question_id)
        if asked is None or asked.answer.done():
            raise QuestionUnknown("This question is answered already, or its call has ended.")
        content = given.content
        if given.action == "accept" and asked.elicitation.mode == "form":
            content = fill_form(asked.elicitation, content)
        asked.answer.set_result(ElicitationAnswer(given.action, content))
        logger.info("Question answered", extra={"call_id": asked.elicitation.call_id, "actor": actor})

    async def _question(self, question_id: str, asked: _Open) -> Question:
        elicitation, run_id, thread_id = asked.elicitation, "", ""
        if elicitation.call_id:
            try:
                call = await self._ledger.get(elicitation.call_id)
            except CallUnknown:
                # Asked by a call of ``groundwork mcp test``, which no run made.
                pass
            else:
                run_id, thread_id = call.run_id, call.thread_id
        return Question(
            question_id=question_id,
            server=elicitation.server,
            tool=elicitation.tool,
            call_id=elicitation.call_id,
            run_id=run_id,
            thread_id=thread_id,
            message=elicitation.message,
            mode=elicitation.mode,
            form=dict(elicitation.schema),
            url=elicitation.url,
            asked_at=asked.asked_at,
            expires_at=asked.asked_at + timedelta(seconds=self._seconds),
        )
