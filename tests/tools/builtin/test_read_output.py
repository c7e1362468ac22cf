from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.tools.samples import pending_call
from tools.builtin.read_output import read_output_tool
from tools.errors import ToolError
from tools.ledger import ExecutionLedger
from tools.types import CallContext, ToolOutput

HERE = CallContext(thread_id="thread-1", run_id="run-1", call_id="c2")
ELSEWHERE = CallContext(thread_id="thread-2", run_id="run-2", call_id="c3")


async def stored(engine: AsyncEngine, text: str) -> ExecutionLedger:
    ledger = ExecutionLedger(engine)
    call = pending_call("c1").model_copy(update={"expires_at": None})
    await ledger.propose(call)
    await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="jo")
    await ledger.start("c1", runner="r")
    await ledger.finish("c1", ToolOutput(text), runner="r")
    return ledger


async def test_the_rest_of_a_long_result_can_be_read(engine: AsyncEngine) -> None:
    tool = read_output_tool(await stored(engine, "0123456789" * 10))
    read = await tool.function({"call_id": "c1", "start": 95, "length": 50}, HERE)
    assert read.text == "56789\n[characters 95 to 100 of 100]"


@pytest.mark.parametrize(
    ("arguments", "context", "sentence"),
    [
        ({"call_id": "c1", "start": 100}, HERE, "begin below"),
        ({"call_id": "c9"}, HERE, "no stored result 'c9'"),
        ({"call_id": "c1"}, ELSEWHERE, "This chat has no stored result"),
    ],
)
async def test_what_cannot_be_read_is_told_in_words(
    engine: AsyncEngine, arguments: dict[str, str | int], context: CallContext, sentence: str
) -> None:
    tool = read_output_tool(await stored(engine, "0123456789" * 10))
    with pytest.raises(ToolError, match=sentence):
        await tool.function(arguments, context)
