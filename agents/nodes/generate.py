"""Third node: the model writes, markers are taken out, pieces go to whoever listens."""

from __future__ import annotations

from time import perf_counter

from langgraph.runtime import Runtime

from agents.answer import Usage
from agents.closing import closing
from agents.drafts import TokenDraft
from agents.draught import NOT_FOUND, Draught, is_looping
from agents.markers import MarkerFilter
from agents.sampling import sampling_of
from agents.state import AnswerState, Context


async def generate(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """What the model wrote. Leaving early closes its stream."""
    context = runtime.context
    markers = MarkerFilter()
    gate = _Gate()
    written: list[str] = []
    pieces: list[str] = []
    usage, finish_reason, author = Usage(), None, ""
    first = last = queued = 0.0
    stream = context.chat_model.stream(state.messages, sampling_of(state.request, context.settings))
    async with closing(stream) as deltas:
        async for delta in deltas:
            usage, finish_reason = delta.usage or usage, delta.finish_reason or finish_reason
            author, queued = delta.model or author, delta.queue_seconds or queued
            if not delta.text:
                continue
            last = perf_counter()
            first = first or last
            pieces.append(delta.text)
            shown = markers.feed(delta.text)
            written.append(shown)
            _say(runtime, gate.feed(shown))
            if is_looping("".join(pieces)):
                finish_reason = "length"
                break
    rest = markers.close()
    written.append(rest)
    _say(runtime, gate.feed(rest) + gate.close())
    draught = Draught(
        text="".join(written),
        markers=tuple(markers.markers),
        usage=usage,
        ttft_ms=(first - context.started) * 1000 if first else None,
        decode_seconds=last - first,
        queue_ms=queued * 1000,
        truncated=finish_reason == "length",
        model=author,
    )
    return {"draught": draught}


class _Gate:
    """Holds the text back while it may still turn out to be the model's word for "no answer"."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def feed(self, text: str) -> str:
        if self._open:
            return text
        self._held += text
        begun = self._held.strip()
        if NOT_FOUND.startswith(begun) or begun.startswith(NOT_FOUND):
            return ""
        self._open = True
        return self._held

    def close(self) -> str:
        return "" if self._open or self._held.strip().startswith(NOT_FOUND) else self._held


def _say(runtime: Runtime[Context], text: str) -> None:
    if text:
        runtime.stream_writer(TokenDraft(text))
