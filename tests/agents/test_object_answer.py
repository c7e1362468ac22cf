"""Answers as one object of a schema, through the whole graph."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue

from agents.answer import Answer
from agents.errors import AgentError, ModelRefused
from agents.events import AnswerDone, ObjectPart, RunEvent, RunFailed, is_terminal
from agents.nodes.generate_object import REPAIRS
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch

SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"exit_code": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["exit_code", "reason"],
}
GOOD = '{"exit_code": 137, "reason": "OOMKilled"}'
QUESTION = "What is the exit code when a container uses more memory than its limit?"


async def _run(*replies: str | AgentError, question: str = QUESTION) -> tuple[list[RunEvent], ScriptedChatModel]:
    model = ScriptedChatModel(replies)
    answerer = Answerer(retriever=WordSearch((CONFIG_MAP, OOM, JOB)), chat_model=model, settings=AnswerSettings())
    request = AnswerRequest(run_id="run-1", thread_id="thread-1", question=question, output_schema=SCHEMA)
    return [event async for event in answerer.run(request)], model


def _answer(events: list[RunEvent]) -> Answer:
    (done,) = [event for event in events if isinstance(event, AnswerDone)]
    return done.answer


async def test_object_comes_with_a_proof_for_each_value() -> None:
    events, model = await _run(GOOD)
    answer = _answer(events)

    assert answer.output == json.loads(GOOD)
    assert [claim.text for claim in answer.claims] == ["exit code: 137", "reason: OOMKilled"]
    assert all(claim.citations for claim in answer.claims)
    assert model.samplings[0].output_schema == SCHEMA
    assert json.dumps(SCHEMA, separators=(",", ":")) in model.prompts[0][-1].content


async def test_value_that_no_passage_has_is_unsupported() -> None:
    answer = _answer((await _run('{"exit_code": 143, "reason": "OOMKilled"}'))[0])

    assert answer.output == {"exit_code": 143, "reason": "OOMKilled"}
    assert answer.claims[0].verdict == "unsupported"


async def test_parts_are_shown_as_they_come() -> None:
    events, _ = await _run(GOOD)
    parts = [event for event in events if isinstance(event, ObjectPart)]

    assert [part.complete for part in parts][-1]
    assert parts[-1].value == json.loads(GOOD)
    assert any(part.value == {"exit_code": 137} for part in parts)


async def test_reply_that_does_not_fit_goes_back_with_its_faults() -> None:
    events, model = await _run('{"exit_code": "137"}', GOOD)

    assert _answer(events).output == json.loads(GOOD)
    told = model.prompts[1][-1].content
    assert "'reason' is a required property" in told
    assert "'137' is not of type 'integer'" in told
    assert model.prompts[1][:2] == model.prompts[0], "what was said before stays, for the server's cache"


async def test_model_that_never_fits_fails_in_one_honest_event() -> None:
    events, model = await _run('{"exit_code": "137"}')

    last = events[-1]
    assert isinstance(last, RunFailed)
    assert last.kind == "output_invalid"
    assert "no object that fits the schema in 3 tries" in last.message
    assert sum(map(is_terminal, events)) == 1
    assert len(model.prompts) == REPAIRS + 1
    assert not [event for event in events if isinstance(event, AnswerDone)]


async def test_server_without_schemas_is_asked_without() -> None:
    events, model = await _run(ModelRefused("response_format is not supported"), GOOD)

    assert _answer(events).output == json.loads(GOOD)
    assert [sampling.output_schema for sampling in model.samplings] == [SCHEMA, None]


async def test_question_that_nothing_answers_has_no_object() -> None:
    events, model = await _run(GOOD, question="Who won the 1998 football world cup?")
    answer = _answer(events)

    assert (answer.status, answer.output) == ("abstained", None)
    assert not model.prompts
