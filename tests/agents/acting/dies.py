"""A process that carries out an approved call and dies at a given moment: python -m tests.agents.acting.dies F WHEN."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from sqlalchemy.ext.asyncio import create_async_engine

from agents.testing import ScriptedCalls, ScriptedChatModel
from tests.agents.acting.harness import Bench
from tools.function_tool import function_tool
from tools.ledger import ExecutionLedger
from tools.tables import METADATA
from tools.types import Tool, ToolOutput

MOMENTS = ("before_effect", "after_effect", "after_receipt", "never")
CLOSING = "The button was pressed."


def press_tool(effects: Path, moment: str) -> Tool:
    """Appends one line; dies before or behind it."""

    async def press(label: str) -> ToolOutput:
        """Press a button.

        Args:
            label: Which.
        """
        if moment == "before_effect":
            os._exit(9)
        with effects.open("a", encoding="utf-8") as file:
            file.write(f"{label}\n")
        if moment == "after_effect":
            os._exit(9)
        return ToolOutput(CLOSING)

    return function_tool(press, risk="write")


class DyingLedger(ExecutionLedger):
    """Dies when a result has been committed."""

    async def finish(self, call_id: str, output: ToolOutput, *, runner: str, failed: bool = False) -> bool:
        await super().finish(call_id, output, runner=runner, failed=failed)
        os._exit(9)


@asynccontextmanager
async def bench_in(folder: Path, moment: str) -> AsyncGenerator[Bench]:
    """A run over files of that folder, so that another process can go on with it."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{folder / 'ledger.db'}")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    async with aiosqlite.connect(folder / "checkpoints.db") as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        model = ScriptedChatModel([ScriptedCalls((("press", '{"label": "a"}'),)), CLOSING])
        if (folder / "effects.txt").exists():
            model = ScriptedChatModel([CLOSING])
        (folder / "effects.txt").touch()
        bench = Bench(engine, model, extra=[press_tool(folder / "effects.txt", moment)], saver=saver)
        if moment == "after_receipt":
            bench.ledger = DyingLedger(engine)
        yield bench
    await engine.dispose()


async def main(folder: Path, moment: str) -> None:
    async with bench_in(folder, moment) as bench:
        await bench.attempt()
        (call,) = await bench.waiting()
        await bench.decide(call)
        await bench.attempt()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
