"""One reply of the model read to its end: text, calls, usage. Text that looks like a call stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from agents.answer import Usage
from agents.chat_model import ChatMessage, ChatModel, Sampling, ToolOffer, ToolRequest
from agents.closing import closing
from agents.draught import Draught, is_looping
from agents.markers import MarkerFilter

LEAKED_CALL = re.compile(
    r"<tool_call>|<function=|\[TOOL_CALLS\]|<\|tool_call|```(?:json)?\s*\{\s*\"(?:name|tool|function)\"\s*:"
    r"|\A\s*\{\s*\"(?:name|tool|function)\"\s*:\s*\""
)
"""Marks by which models write calls as text when their server does not parse them (vLLM's parsers name them). Such
text is never run."""
_HELD_OPENINGS = ("<", "[", "`", "{")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said in one turn."""

    draught: Draught
    requests: tuple[ToolRequest, ...]

    @property
    def leaked(self) -> bool:
        """Whether the text holds a call that nobody may run."""
        return not self.requests and bool(LEAKED_CALL.search(self.draught.text))


async def read_reply(
    model: ChatModel,
    messages: Sequence[ChatMessage],
    sampling: Sampling,
    *,
    tools: ToolOffer | None,
    started: float,
    on_text: Callable[[str], None],
) -> Reply:
    """Read one reply; ``on_text`` gets the text as it comes, held back while it may be a leaked call.

    Raises:
        ModelUnavailable, ModelTimeout, ModelRefused: As ``ChatModel.stream``.
    """
    markers = MarkerFilter()
    gate = _Gate(on_text)
    written: list[str] = []
    parts: dict[int, list[str]] = {}
    usage, finish_reason, first, last = Usage(), None, 0.0, 0.0
    async with closing(model.stream(messages, sampling, tools=tools)) as deltas:
        async for delta in deltas:
            usage, finish_reason = delta.usage or usage, delta.finish_reason or finish_reason
            if delta.text or delta.tool_requests:
                last = perf_counter()
                first = first or last
            for piece in delta.tool_requests:
                joined = parts.setdefault(piece.index, ["", "", ""])
                joined[0] = joined[0] or piece.id
                joined[1] += piece.name
                joined[2] += piece.arguments
            shown = markers.feed(delta.text)
            written.append(shown)
            gate.feed(shown)
            if is_looping("".join(written)):
                finish_reason = "length"
                break
    rest = markers.close()
    written.append(rest)
    gate.feed(rest)
    text = "".join(written)
    draught = Draught(
        text=text,
        markers=tuple(markers.markers),
        usage=usage,
        ttft_ms=(first - started) * 1000 if first else None,
        decode_seconds=last - first,
        truncated=finish_reason == "length",
    )
    requests = tuple(ToolRequest(*parts[index]) for index in sorted(parts) if parts[index][1])
    reply = Reply(draught, requests)
    gate.close(leaked=reply.leaked)
    return reply


class _Gate:
    """Lets text through once it cannot begin a leaked call any more."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._held = ""
        self._open = False

    def feed(self, text: str) -> None:
        if self._open:
            if text:
                self._on_text(text)
            return
        self._held += text
        begun = self._held.lstrip()
        if begun and not begun.startswith(_HELD_OPENINGS):
            self._open = True
            self._on_text(self._held)

    def close(self, *, leaked: bool) -> None:
        if not self._open and self._held.strip() and not leaked:
            self._on_text(self._held)
