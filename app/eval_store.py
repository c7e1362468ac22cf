"""Evaluations in the database: runs, and the case of each question as it comes. Knows nothing of what is measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from app.errors import EvalUnknown
from app.eval_schema import EvalCase, EvalRun, EvalState, EvalSummary
from app.tables import eval_cases, eval_runs
from app.threads import utc_now

_GOES_ON: tuple[EvalState, ...] = ("stopped", "interrupted", "failed")
"""States from which a run of the same questions and settings is gone on with."""


@dataclass(frozen=True, slots=True)
class EvalStore:
    """Evaluations of one database.

    Attributes:
        engine: The database.
        owner: Name of this API among all that share the database.
    """

    engine: AsyncEngine
    owner: str

    async def create(self, run: EvalRun, *, fingerprint: str) -> None:
        """Write a run without cases."""
        values = run.model_dump(exclude={"config", "summary", "done"}) | {
            "fingerprint": fingerprint,
            "owner": self.owner,
            "config": json.dumps(run.config),
            "summary": run.summary.model_dump_json(),
        }
        async with self.engine.begin() as connection:
            await connection.execute(eval_runs.insert().values(values))

    async def unfinished(self, fingerprint: str) -> EvalRun | None:
        """The newest run of this fingerprint that was not finished, if there is one."""
        query = _select().where(eval_runs.c.fingerprint == fingerprint, eval_runs.c.state.in_(_GOES_ON))
        async with self.engine.connect() as connection:
            row = (await connection.execute(query.limit(1))).mappings().first()
        return _run(row) if row is not None else None

    async def set_state(
        self, eval_id: str, state: EvalState, *, summary: EvalSummary | None = None, error: str = ""
    ) -> None:
        """Write where a run stands, and its figures when given."""
        values = {"state": state, "error": error, "updated_at": utc_now(), "owner": self.owner}
        if summary is not None:
            values["summary"] = summary.model_dump_json()
        async with self.engine.begin() as connection:
            await connection.execute(eval_runs.update().where(eval_runs.c.eval_id == eval_id).values(values))

    async def add_case(self, eval_id: str, position: int, case: EvalCase) -> None:
        """Keep the case of one question; it is there from now on, whatever happens to the process."""
        values = {
            "eval_id": eval_id,
            "question_id": case.question_id,
            "position": position,
            "passed": case.passed,
            "data": case.model_dump_json(),
        }
        async with self.engine.begin() as connection:
            await connection.execute(eval_cases.insert().values(values))

    async def cases(self, eval_id: str) -> list[EvalCase]:
        """Cases of a run in the order of its questions; empty for an unknown run."""
        query = sa.select(eval_cases.c.data).where(eval_cases.c.eval_id == eval_id).order_by(eval_cases.c.position)
        async with self.engine.connect() as connection:
            return [EvalCase.model_validate_json(data) for data in await connection.scalars(query)]

    async def get(self, eval_id: str) -> EvalRun:
        """The run of that id; raises ``EvalUnknown``."""
        async with self.engine.connect() as connection:
            row = (await connection.execute(_select().where(eval_runs.c.eval_id == eval_id))).mappings().first()
        if row is None:
            raise EvalUnknown(f"There is no evaluation {eval_id!r}; GET /api/evals lists them.")
        return _run(row)

    async def list(self, *, limit: int = 100) -> list[EvalRun]:
        """Runs, newest first."""
        async with self.engine.connect() as connection:
            return [_run(row) for row in (await connection.execute(_select().limit(limit))).mappings()]

    async def delete(self, eval_id: str) -> None:
        """Delete a run with its cases; raises ``EvalUnknown``."""
        async with self.engine.begin() as connection:
            deleted = await connection.execute(eval_runs.delete().where(eval_runs.c.eval_id == eval_id))
        if not deleted.rowcount:
            raise EvalUnknown(f"There is no evaluation {eval_id!r}; GET /api/evals lists them.")

    async def interrupt_running(self) -> None:
        """Mark what this owner's process left unfinished when it died."""
        left = eval_runs.update().where(eval_runs.c.state.in_(("queued", "running")), eval_runs.c.owner == self.owner)
        async with self.engine.begin() as connection:
            await connection.execute(left.values(state="interrupted", updated_at=utc_now()))


_COLUMNS = ("eval_id", "kind", "name", "state", "created_at", "updated_at", "total", "error")


def _select() -> sa.Select[*tuple[Any, ...]]:  # the columns of a whole table
    done = sa.select(sa.func.count()).where(eval_cases.c.eval_id == eval_runs.c.eval_id).scalar_subquery()
    return sa.select(eval_runs, done.label("done")).order_by(eval_runs.c.created_at.desc(), eval_runs.c.eval_id)


def _run(row: sa.RowMapping) -> EvalRun:
    return EvalRun(
        **{name: row[name] for name in _COLUMNS},
        done=row["done"],
        config=json.loads(row["config"]),
        summary=EvalSummary.model_validate_json(row["summary"]),
    )
