"""A follow-up behind the prompt of the turn before: when, with what, and when not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.chat_model import ChatMessage
from agents.context import as_turns
from agents.earlier import EarlierPrompt, sent_again
from agents.events import AnswerDone, ClaimsChecked, HitsFound, RunEvent
from agents.proof_replay import chunks_of
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch

QUESTION = "What is the exit code when a container uses more memory than its limit?"
REPLY = "The kernel stops it with exit code 137 and the reason OOMKilled. "
TURN = (ChatMessage("user", QUESTION), ChatMessage("assistant", REPLY))
FOLLOW_UP = "And what does the kubelet do then?"
FOLLOW_UP_REPLY = "The kubelet then restarts the container."
RESTART = "A container that the kubelet restarts again and again waits longer each time: 10 s, 20 s, 40 s, up to 300 s."
LONG = " ".join(f"{OOM} This is note number {number} about the memory limit of a container." for number in range(6))


async def _asked(
    model: ScriptedChatModel,
    question: str,
    *,
    texts: tuple[str, ...] = (OOM, CONFIG_MAP),
    earlier: EarlierPrompt | None = None,
    history: tuple[ChatMessage, ...] = TURN,
    run_id: str = "run-1",
) -> list[RunEvent]:
    answerer = Answerer(retriever=WordSearch(texts), chat_model=model, settings=AnswerSettings())
    told = history if earlier else ()
    request = AnswerRequest(run_id, "thread-1", question, history=told, earlier=earlier)
    return [event async for event in answerer.run(request)]


def _earlier(events: list[RunEvent], *, before: EarlierPrompt | None = None) -> EarlierPrompt:
    """What the application puts together from the log of a run."""
    (checked,) = (event for event in events if isinstance(event, ClaimsChecked))
    (done,) = (event for event in events if isinstance(event, AnswerDone))
    assert checked.prompt
    assert checked.record
    shown = as_turns([ChatMessage("assistant", done.answer.answer)])[0].content
    messages = (*(before.messages if before else ()), *sent_again(checked.prompt, shown=shown))
    return EarlierPrompt(done.answer.run_id, messages, tuple(chunks_of(checked.record)))


async def _first(texts: tuple[str, ...] = (OOM, CONFIG_MAP), reply: str = REPLY) -> EarlierPrompt:
    return _earlier(await _asked(ScriptedChatModel([reply]), QUESTION, texts=texts))


async def test_follow_up_leaves_every_byte_before_it_as_it_was_sent_and_written() -> None:
    model = ScriptedChatModel([REPLY, FOLLOW_UP_REPLY, REPLY])
    first = _earlier(await _asked(model, QUESTION))
    events = await _asked(model, FOLLOW_UP, earlier=first, run_id="run-2")
    second = _earlier(events, before=first)
    await _asked(model, "And how long does it take?", earlier=second, run_id="run-3")

    one, two, three = model.prompts
    assert two[: len(one)] == one
    assert two[len(one)] == ChatMessage("assistant", REPLY)
    assert three[: len(two)] == two
    assert OOM not in two[-1].content
    assert two[-1].content.startswith("The passages of the messages before hold")


async def test_answer_cites_a_passage_of_the_turn_before() -> None:
    events = await _asked(ScriptedChatModel([FOLLOW_UP_REPLY]), FOLLOW_UP, earlier=await _first())
    (done,) = (event for event in events if isinstance(event, AnswerDone))
    assert [claim.verdict for claim in done.answer.claims] == ["verified"]
    assert done.answer.citations[0].quote in OOM


async def test_new_passage_comes_with_the_question_and_the_next_number() -> None:
    model = ScriptedChatModel([FOLLOW_UP_REPLY])
    earlier = await _first(texts=(OOM, LONG))
    events = await _asked(model, FOLLOW_UP, texts=(OOM, LONG, RESTART), earlier=earlier)
    asked = model.prompts[0][-1].content
    assert asked.startswith(f'<passage number="{len(earlier.passages) + 1}"')
    assert RESTART in asked
    (found,) = (event for event in events if isinstance(event, HitsFound))
    assert found.context.used.history > found.context.used.evidence > 0


async def test_question_about_something_else_gets_a_prompt_of_its_own() -> None:
    model = ScriptedChatModel(["It is set to 6 by default."])
    question = "What is the default of .spec.backoffLimit?"
    await _asked(model, question, texts=(JOB, CONFIG_MAP), earlier=await _first((OOM,)))
    assert [message.role for message in model.prompts[0]] == ["system", "user", "assistant", "user"]
    assert OOM not in " ".join(message.content for message in model.prompts[0])


async def test_best_passage_that_does_not_fit_behind_makes_a_prompt_of_its_own() -> None:
    model = ScriptedChatModel([FOLLOW_UP_REPLY])
    question = "How many seconds does a container wait before the kernel begins anew?"
    best = f"{question} {' '.join(f'word{number}' for number in range(300))}"
    await _asked(model, question, texts=(OOM, CONFIG_MAP, best), earlier=await _first())
    assert best in model.prompts[0][-1].content
    assert model.prompts[0][-1].content.index('<passage number="1"') == 0


@pytest.mark.parametrize("gone", [("",), (OOM.replace("137", "139"),)], ids=["deleted", "changed"])
async def test_passage_that_the_store_does_not_show_any_more_leaves_the_prompt(gone: tuple[str, ...]) -> None:
    model = ScriptedChatModel([FOLLOW_UP_REPLY])
    await _asked(model, FOLLOW_UP, texts=(*gone, CONFIG_MAP, RESTART), earlier=await _first())
    assert OOM not in " ".join(message.content for message in model.prompts[0])


async def test_full_window_makes_a_prompt_of_its_own() -> None:
    earlier = await _first()
    told = replace(earlier, messages=(ChatMessage("user", "word " * 4000), *earlier.messages))
    model = ScriptedChatModel([FOLLOW_UP_REPLY])
    await _asked(model, FOLLOW_UP, earlier=told)
    assert told.messages[0] not in model.prompts[0]
    assert OOM in model.prompts[0][-1].content


async def test_turns_that_the_earlier_prompt_had_no_room_for_are_told() -> None:
    history = (ChatMessage("user", "What is a pod?"), ChatMessage("assistant", "A group of containers."), *TURN)
    events = await _asked(ScriptedChatModel([FOLLOW_UP_REPLY]), FOLLOW_UP, earlier=await _first(), history=history)
    (found,) = (event for event in events if isinstance(event, HitsFound))
    assert found.context.dropped_turns == ("What is a pod?",)


async def test_words_that_were_taken_back_are_not_said_to_the_model_again() -> None:
    earlier = await _first(reply=f"{REPLY}The moon is made of green cheese [7].")
    assert earlier.messages[-1].content.startswith(REPLY.strip())
    events = await _asked(ScriptedChatModel(["Sheep count clouds at night."]), QUESTION)
    shown = _earlier(events).messages[-1].content
    assert "Sheep" not in shown
