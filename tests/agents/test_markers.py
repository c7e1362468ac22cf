from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.markers import Marker, MarkerFilter, strip_markers

_PIECES = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[2, 3]",
            "[1",
            "]",
            " ",
            "\n",
            "\n\n",
            "`",
            "```",
            "word",
            ".",
            "[",
            "a[0]",
            "【4】",
            "[Passage 2]",
            "-",
            "12",
        ]
    ),
    max_size=25,
)


@pytest.mark.parametrize(
    ("written", "shown", "numbers"),
    [
        ("The limit is 1 MiB [1].", "The limit is 1 MiB.", [(1,)]),
        ("One. [1][2] Two.", "One. Two.", [(1,), (2,)]),
        ("One [2, 3] two", "One two", [(2, 3)]),
        ("One [1-3].", "One.", [(1, 2, 3)]),
        ("One [Passage 4].", "One.", [(4,)]),
        ("One【2】.", "One.", [(2,)]),
        ("One [^7].", "One.", [(7,)]),
        ("See [the guide](x).", "See [the guide](x).", []),
        ("Take `items[0]` and [1]", "Take `items[0]` and", [(1,)]),
        ("```\nitems[0]\n```\nDone [1]", "```\nitems[0]\n```\nDone", [(1,)]),
        ("[1] First.\n\n[2] Second.", "First.\n\nSecond.", [(1,), (2,)]),
        ("open [1", "open [1", []),
        ("", "", []),
    ],
)
def test_markers_are_taken_out_and_remembered(written: str, shown: str, numbers: list[tuple[int, ...]]) -> None:
    text, markers = strip_markers(written)
    assert text == shown
    assert [marker.numbers for marker in markers] == numbers


def test_marker_keeps_its_place_in_the_shown_text() -> None:
    text, markers = strip_markers("First [1]. Second [2].")
    assert text == "First. Second."
    assert markers == (Marker(5, (1,)), Marker(13, (2,)))


@given(_PIECES, st.lists(st.integers(1, 6), min_size=1, max_size=40))
def test_cuts_make_no_difference(pieces: list[str], sizes: list[int]) -> None:
    text = "".join(pieces)
    whole, markers = strip_markers(text)
    marker_filter = MarkerFilter()
    shown, place = "", 0
    while place < len(text):
        size = sizes[place % len(sizes)]
        shown += marker_filter.feed(text[place : place + size])
        place += size
    shown += marker_filter.close()
    assert (shown, tuple(marker_filter.markers)) == (whole, markers)


@given(_PIECES)
def test_text_without_brackets_passes_unchanged(pieces: list[str]) -> None:
    text = "".join(piece for piece in pieces if "[" not in piece and "【" not in piece)
    assert strip_markers(text) == (text, ())
