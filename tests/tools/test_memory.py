from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import create_async_engine

from tests.tools.conftest import Clock
from tests.tools.samples import START
from tools.arguments import validate_arguments
from tools.builtin.forget import forget_tool
from tools.builtin.remember import remember_tool
from tools.errors import ArgumentsInvalid, FactInvalid, FactUnknown, MemoryFull
from tools.facts import MAX_FACT_CHARS, PROMPT_LABEL, Fact, facts_for_prompt, one_line
from tools.memory import FactStore
from tools.policy import Grant, PolicyRule, decide
from tools.tables import METADATA
from tools.types import BUILTIN_SERVER, CallContext

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="t:m1:0", user="ana")


@pytest.fixture
async def facts(tmp_path: Path, clock: Clock) -> AsyncIterator[FactStore]:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    yield FactStore(engine, max_facts=3, clock=clock)
    await engine.dispose()


def fact(number: int, text: str) -> Fact:
    return Fact(fact_id=f"{number:010x}", text=text, created_at=START, updated_at=START)


async def test_pinned_facts_come_first_then_the_latest(facts: FactStore, clock: Clock) -> None:
    first = await facts.add("ana", "Works in the payments team.", pinned=True)
    clock.now = START + timedelta(minutes=1)
    second = await facts.add("ana", "Is on call this week.")
    clock.now = START + timedelta(minutes=2)
    third = await facts.add("ana", "Prefers short answers.")
    assert await facts.list("ana") == [first, third, second]
    assert first.created_at == START


async def test_a_user_never_sees_or_changes_the_facts_of_another(facts: FactStore) -> None:
    kept = await facts.add("ana", "Works in the payments team.")
    assert await facts.list("ben") == []
    for attempt in (facts.edit("ben", kept.fact_id, text="Owned."), facts.delete("ben", kept.fact_id)):
        with pytest.raises(FactUnknown, match=kept.fact_id):
            await attempt
    assert await facts.list("ana") == [kept]


async def test_words_and_pin_change_alone(facts: FactStore, clock: Clock) -> None:
    kept = await facts.add("ana", "Is on call this week.")
    clock.now = START + timedelta(days=7)
    edited = await facts.edit("ana", kept.fact_id, text="Is on call next week.")
    pinned = await facts.edit("ana", kept.fact_id, pinned=True)
    assert edited == kept.model_copy(update={"text": "Is on call next week.", "updated_at": clock.now})
    assert pinned == edited.model_copy(update={"pinned": True})
    assert await facts.list("ana") == [pinned]


async def test_a_full_memory_refuses_and_a_known_fact_is_no_new_one(facts: FactStore) -> None:
    for number in range(3):
        await facts.add("ana", f"Fact {number}.")
    with pytest.raises(MemoryFull, match="3 facts"):
        await facts.add("ana", "Fact 3.")
    assert (await facts.add("ana", " fact  1. ")).text == "Fact 1."
    await facts.add("ben", "Fact 3.")
    await facts.delete("ana", (await facts.list("ana"))[0].fact_id)
    await facts.add("ana", "Fact 3.")
    assert (await facts.count("ana"), await facts.count("ben")) == (3, 1)


@pytest.mark.parametrize("text", ["", " \n\t ", "\x00\x1b", "x" * (MAX_FACT_CHARS + 1)])
async def test_a_fact_that_is_empty_or_long_is_refused(facts: FactStore, text: str) -> None:
    with pytest.raises(FactInvalid):
        await facts.add("ana", text)


@given(st.text(min_size=1, max_size=300))
def test_a_fact_is_one_printable_line(text: str) -> None:
    try:
        line = one_line(text)
    except FactInvalid:
        assert not any(character.isprintable() and not character.isspace() for character in text)
    else:
        assert len(line.splitlines()) == 1
        assert line == one_line(line)
        assert line.isprintable()


def test_the_prompt_labels_facts_and_keeps_the_first_that_fit() -> None:
    kept = [fact(1, "one two three"), fact(2, "four " * 50), fact(3, "five")]

    def count(text: str) -> int:
        return len(text.split())

    whole = facts_for_prompt(kept, max_tokens=500, count=count)
    assert whole.splitlines()[0] == PROMPT_LABEL
    assert whole.splitlines()[1] == "- [0000000001] one two three"
    assert len(whole.splitlines()) == 4
    budget = count(PROMPT_LABEL) + 8
    small = facts_for_prompt(kept, max_tokens=budget, count=count)
    assert small.splitlines() == [PROMPT_LABEL, "- [0000000001] one two three", "- [0000000003] five"]
    assert count(small) <= budget
    assert facts_for_prompt(kept, max_tokens=count(PROMPT_LABEL) + 1, count=count) == ""
    assert facts_for_prompt([], max_tokens=500, count=count) == ""


async def test_the_tools_write_for_the_caller_and_name_their_call(facts: FactStore) -> None:
    output = await remember_tool(facts).function({"text": "Is on call for\norders-api."}, CONTEXT)
    [kept] = await facts.list("ana")
    assert (kept.text, kept.thread_id, kept.run_id, kept.call_id) == ("Is on call for orders-api.", "t", "r", "t:m1:0")
    assert output.structured == {"fact_id": kept.fact_id, "text": kept.text}
    await remember_tool(facts).function({"text": "Is on call for orders-api."}, CONTEXT)
    assert await facts.list("ana") == [kept]
    assert (await forget_tool(facts).function({"fact_id": kept.fact_id}, CONTEXT)).text == f"Forgotten: {kept.text}"
    with pytest.raises(FactUnknown):
        await forget_tool(facts).function({"fact_id": kept.fact_id}, CONTEXT)


async def test_the_schema_bounds_a_fact(facts: FactStore) -> None:
    for text in ("", "x" * (MAX_FACT_CHARS + 1)):
        with pytest.raises(ArgumentsInvalid, match="'text'"):
            validate_arguments(remember_tool(facts).spec, {"text": text})


@pytest.mark.parametrize("tainted", [True, False])
async def test_untrusted_text_never_writes_memory_unasked(facts: FactStore, tainted: bool) -> None:
    for tool, arguments in ((remember_tool(facts), {"text": "x"}), (forget_tool(facts), {"fact_id": "x"})):
        allowed = decide(
            tool.spec,
            arguments,
            rules=(PolicyRule(action="allow", server=BUILTIN_SERVER, risk=("read", "write")),),
            grants=(),
            thread_id="t",
            tainted=tainted,
        )
        granted = decide(
            tool.spec,
            arguments,
            rules=(),
            grants=(Grant("g", "chat", BUILTIN_SERVER, tool.spec.name),),
            thread_id="t",
            tainted=tainted,
        )
        assert {allowed.action, granted.action} == {"ask" if tainted else "allow"}


async def test_facts_that_are_added_at_once_are_all_kept(facts: FactStore) -> None:
    await asyncio.gather(*(facts.add("ana", f"Fact {number}.") for number in range(3)))
    assert sorted(fact.text for fact in await facts.list("ana")) == ["Fact 0.", "Fact 1.", "Fact 2."]
