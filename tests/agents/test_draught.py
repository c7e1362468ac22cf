from __future__ import annotations

import pytest

from agents.answer import Usage
from agents.draught import Draught, can_go_on, presentable


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


def test_reply_that_its_limit_cut_off_can_go_on_and_one_that_loops_cannot() -> None:
    loop = (
        "The container is restarted by the kubelet, and then the container is restarted by the kubelet once more. " * 4
    )

    assert can_go_on(Draught(text="The kernel ends", truncated=True))
    assert not can_go_on(Draught(text="The kernel ends it."))
    assert not can_go_on(Draught(text=loop, truncated=True))
