"""Third node, where one JSON object is asked for: the model writes, the reply is checked, faults go back to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter

from langgraph.runtime import Runtime
from pydantic import JsonValue

from agents.answer import Usage
from agents.chat_model import ChatMessage, Sampling
from agents.closing import closing
from agents.drafts import ObjectDraft
from agents.draught import Draught
from agents.errors import ModelRefused, OutputInvalid
from agents.sampling import sampling_of
from agents.state import AnswerState, Context
from agents.structured import correction, parse_object, partial_object, render

REPAIRS = 2
"""Times that the model is shown what is wrong with its reply."""


async def generate_object(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """The object and its text for the proof.

    Raises:
        OutputInvalid: No reply fits the schema.
        ModelUnavailable, ModelTimeout, ModelRefused: See ``ChatModel.stream``.
    """
    schema = state.request.output_schema
    assert schema is not None, "the graph comes here with a schema alone"
    writer = _Writer(runtime, replace(sampling_of(state.request, runtime.context.settings), output_schema=schema))
    messages = state.messages
    for left in range(REPAIRS, -1, -1):
        reply = await writer.write(messages)
        try:
            value = parse_object(reply, schema)
        except OutputInvalid as error:
            if not left:
                raise OutputInvalid(
                    f"The model wrote no object that fits the schema in {REPAIRS + 1} tries; the last one: {error}"
                    " Simplify the schema, raise max_tokens, or use a larger model."
                ) from error
            told = (ChatMessage("assistant", reply), ChatMessage("user", correction(str(error))))
            messages = (*state.messages, *told)
        else:
            runtime.stream_writer(ObjectDraft(value, complete=True))
            return {"draught": writer.draught(render(value), repairs=REPAIRS - left), "output": value}
    raise AssertionError("the last try returns or raises")


class _Writer:
    """Calls of the model for one object, and what they cost together."""

    def __init__(self, runtime: Runtime[Context], sampling: Sampling) -> None:
        self._runtime = runtime
        self._sampling = sampling
        self._usage = Usage()
        self._first = self._last = 0.0
        self._author = ""

    async def write(self, messages: tuple[ChatMessage, ...]) -> str:
        """One reply; a server that cannot hold it to the schema is asked without, for the schema is in the prompt."""
        try:
            return await self._write(messages, self._sampling)
        except ModelRefused:
            if self._sampling.output_schema is None:
                raise
            self._sampling = replace(self._sampling, output_schema=None)
            return await self._write(messages, self._sampling)

    def draught(self, text: str, *, repairs: int) -> Draught:
        """The calls as one draught with this text."""
        return Draught(
            text=text,
            usage=self._usage,
            ttft_ms=(self._first - self._runtime.context.started) * 1000 if self._first else None,
            decode_seconds=self._last - self._first,
            model=self._author,
            repairs=repairs,
        )

    async def _write(self, messages: tuple[ChatMessage, ...], sampling: Sampling) -> str:
        reply = ""
        shown: Mapping[str, JsonValue] | None = None
        async with closing(self._runtime.context.chat_model.stream(messages, sampling)) as deltas:
            async for delta in deltas:
                self._usage = self._usage.plus(delta.usage) if delta.usage else self._usage
                self._author = delta.model or self._author
                if not delta.text:
                    continue
                self._last = perf_counter()
                self._first = self._first or self._last
                reply += delta.text
                value = partial_object(reply)
                if value and value != shown:
                    shown = value
                    self._runtime.stream_writer(ObjectDraft(value))
        return reply
