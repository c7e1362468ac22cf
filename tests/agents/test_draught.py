from __future__ import annotations

import pytest

from agents.answer import Usage
from agents.draught import Draught, presentable


@pytest.mark.parametrize(
    ("text", "truncated", "shown"),
    [
        ("One. Two.", False, "One. Two."),
        ("One. NOT_FOUND", False, "One."),
        ("One is done. The second was cu", True, "One is done."),
        ("One is done. Two is done.", True, "One is done. Two is done."),
        ("Only one that was cu", True, "Only one that was cu"),
        ("One is done. Not cut", False, "One is done. Not cut"),
    ],
)
def test_presentable_text(text: str, truncated: bool, shown: str) -> None:
    assert presentable(Draught(text=text, truncated=truncated)) == shown


def test_speed_does_not_count_the_first_token() -> None:
    assert Draught(usage=Usage(completion_tokens=11), decode_seconds=2.0).tokens_per_second == 5.0
    assert Draught(usage=Usage(completion_tokens=1), decode_seconds=2.0).tokens_per_second is None
    assert Draught().tokens_per_second is None
