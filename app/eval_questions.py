"""Questions that people kept from chats: made from a run, listed, changed, exported as lines of a question file.

What a kept answer must contain is proposed from its proof: figures and names in claims that stored text carries and
that the question did not give away. A person may change all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.answer import Answer
from agents.markers import strip_markers
from agents.proof.tokens import HARD_KINDS, tokenise
from app.errors import EvalQuestionUnknown, RequestInvalid
from app.eval_schema import EvalEvidence, EvalQuestion, EvalTurn, KeepRequest, KeptQuestion
from app.schema import RunInfo
from app.tables import eval_questions
from app.threads import utc_now

PROPOSED_ITEMS = 3
"""More make a case brittle: a good answer may leave a detail out."""
_UPLOAD = "upload:"


@dataclass(frozen=True, slots=True)
class KeptQuestions:
    """Kept questions of one database."""

    engine: AsyncEngine

    async def keep(self, run: RunInfo, earlier: Sequence[RunInfo], request: KeepRequest) -> KeptQuestion:
        """Keep the question of a run.

        Raises:
            RequestInvalid: The run has no answer, or it is kept already.
        """
        question = question_of(run, earlier, request)
        kept = KeptQuestion(question=question, run_id=run.run_id, created_at=utc_now())
        values = {
            "question_id": question.id,
            "run_id": run.run_id,
            "created_at": kept.created_at,
            "data": question.model_dump_json(),
        }
        try:
            async with self.engine.begin() as connection:
                await connection.execute(eval_questions.insert().values(values))
        except IntegrityError as error:
            raise RequestInvalid(f"The question {question.id!r} is kept already; delete or change it.") from error
        return kept

    async def list(self) -> list[KeptQuestion]:
        """Kept questions, oldest first."""
        query = sa.select(eval_questions).order_by(eval_questions.c.created_at, eval_questions.c.question_id)
        async with self.engine.connect() as connection:
            return [_kept(row) for row in (await connection.execute(query)).mappings()]

    async def change(self, question: EvalQuestion) -> KeptQuestion:
        """Put a question in the place of the kept one of its id; raises ``EvalQuestionUnknown``."""
        kept = eval_questions.c.question_id == question.id
        async with self.engine.begin() as connection:
            await connection.execute(eval_questions.update().where(kept).values(data=question.model_dump_json()))
            row = (await connection.execute(sa.select(eval_questions).where(kept))).mappings().first()
        if row is None:
            raise EvalQuestionUnknown(f"There is no kept question {question.id!r}.")
        return _kept(row)

    async def delete(self, question_id: str) -> None:
        """Forget a question; raises ``EvalQuestionUnknown``."""
        async with self.engine.begin() as connection:
            deleted = await connection.execute(
                eval_questions.delete().where(eval_questions.c.question_id == question_id)
            )
        if not deleted.rowcount:
            raise EvalQuestionUnknown(f"There is no kept question {question_id!r}.")


def question_of(run: RunInfo, earlier: Sequence[RunInfo], request: KeepRequest) -> EvalQuestion:
    """The question of a run with the turns before it, and what its answer stands on.

    Raises:
        RequestInvalid: The run has no answer.
    """
    answer = run.answer
    if answer is None or run.state not in ("answered", "abstained"):
        raise RequestInvalid(f"The run {run.run_id!r} has no answer to keep; ask again.")
    answerable = run.state == "answered" if request.answerable is None else request.answerable
    turns = [turn for one in earlier for turn in _turns(one)]
    evidence = [EvalEvidence(file=_file(c.source), quote=c.quote) for c in answer.citations if not c.call_id]
    proposed = _proposed(run.question, answer) if run.state == "answered" else ()
    return EvalQuestion(
        id=f"chat-{run.run_id[:12]}",
        question=run.question,
        answer=strip_markers(answer.answer)[0].strip() if answerable and run.state == "answered" else "",
        must_contain=() if not answerable else proposed if request.must_contain is None else request.must_contain,
        relevant_files=tuple(dict.fromkeys(item.file for item in evidence)) if answerable else (),
        answerable=answerable,
        kind="follow-up" if turns else "lookup",
        history=tuple(turns),
        evidence=tuple(evidence) if answerable else (),
    )


def _turns(run: RunInfo) -> list[EvalTurn]:
    if run.answer is None or run.state not in ("answered", "abstained"):
        return []
    text = strip_markers(run.answer.answer)[0]
    return [EvalTurn(role="user", content=run.question), EvalTurn(role="assistant", content=text)]


def _proposed(question: str, answer: Answer) -> tuple[str, ...]:
    """Figures, names and identifiers of the claims that are verified, in their order."""
    given = {token.key for token in tokenise(question)}
    found: dict[str, str] = {}
    for claim in answer.claims:
        if claim.verdict != "verified":
            continue
        for token in tokenise(claim.text):
            if token.kind in HARD_KINDS and token.key not in given:
                found.setdefault(token.key, claim.text[token.start : token.end])
    return tuple(list(found.values())[:PROPOSED_ITEMS])


def _file(source: str) -> str:
    return source.removeprefix(_UPLOAD)


def _kept(row: sa.RowMapping) -> KeptQuestion:
    question = EvalQuestion.model_validate_json(row["data"])
    return KeptQuestion(question=question, run_id=row["run_id"], created_at=row["created_at"])
