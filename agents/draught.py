"""What a model wrote before it is proved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agents.answer import Usage
from agents.markers import Marker
from agents.proof.segments import segment

NOT_FOUND = "NOT_FOUND"
"""What a model that may refuse is asked to write when the passages do not answer."""
_NOT_FOUND_LINE = re.compile(rf"\s*\b{NOT_FOUND}\b[.!]?")
LOOP_CHARACTERS = 80
LOOP_TIMES = 3
"""Times that the last ``LOOP_CHARACTERS`` of a reply must stand in it to call it a loop."""
_TRUNCATED_KINDS = frozenset({"sentence", "item", "row"})


@dataclass(frozen=True, slots=True)
class Draught:
    """A reply with its markers taken out.

    Attributes:
        text: The reply.
        markers: What the model cited, with places in ``text``.
        usage: Tokens as the server counted them.
        ttft_ms: From the start of the run to the first token; None when none came.
        decode_seconds: From the first token to the last.
        queue_ms: Waited for a free place at the model.
        truncated: The model reached its limit before its end.
        model: Name of the model that wrote it; empty where only one can have.
        repairs: Times that the model was shown what is wrong with its object.
    """

    text: str = ""
    markers: tuple[Marker, ...] = ()
    usage: Usage = field(default_factory=Usage)
    ttft_ms: float | None = None
    decode_seconds: float = 0.0
    queue_ms: float = 0.0
    truncated: bool = False
    model: str = ""
    repairs: int = 0

    @property
    def tokens_per_second(self) -> float | None:
        """Speed of writing, the first token not counted; None for replies too short to tell."""
        if self.decode_seconds <= 0 or self.usage.completion_tokens < 2:
            return None
        return (self.usage.completion_tokens - 1) / self.decode_seconds


def can_go_on(draught: Draught) -> bool:
    """Whether more would come if the model were asked: its limit cut it off, and not that it said the same again."""
    return draught.truncated and not is_looping(draught.text.rstrip())


def is_looping(text: str) -> bool:
    """Whether a reply says the same over and over, as small models fall into; only stopping helps."""
    return len(text) > LOOP_CHARACTERS and text.count(text[-LOOP_CHARACTERS:]) >= LOOP_TIMES


def presentable(draught: Draught) -> str:
    """The reply without a stray ``NOT_FOUND``, and without the sentence that the limit cut off."""
    text = _NOT_FOUND_LINE.sub("", draught.text).rstrip()
    if not draught.truncated:
        return text
    if is_looping(text):
        text = text[: text.index(text[-LOOP_CHARACTERS:]) + LOOP_CHARACTERS].rstrip()
    parts = segment(text)
    if len(parts) < 2 or parts[-1].kind not in _TRUNCATED_KINDS or text[-1:] in ".!?。！？|":
        return text
    return text[: parts[-2].end].rstrip()
