from __future__ import annotations

import pytest

from agents.proof.figures import read_figure, read_number_word, scale


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 MiB", "1Mi"),
        ("1MiB", "1024 KiB"),
        ("30s", "30 seconds"),
        ("30-second", "30 s"),
        ("5m", "300 seconds"),
        ("100m", "0.1"),
        ("1h", "60 minutes"),
        ("5,000", "5000"),
        ("1.50", "1.5"),
        ("10%", "10 percent"),
        ("10%", "0.1"),
        ("−5", "-5"),
        ("2 GB", "2000 MB"),
    ],
)
def test_equal_figures_share_a_reading(one: str, other: str) -> None:
    assert read_figure(one) & read_figure(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1 MiB", "1 MB"),
        ("1 MiB", "2 MiB"),
        ("30s", "30 minutes"),
        ("30 seconds", "30"),
        ("10%", "10"),
        ("5", "-5"),
        ("1 Gi", "1 G"),
    ],
)
def test_altered_figures_share_no_reading(one: str, other: str) -> None:
    assert not read_figure(one) & read_figure(other)


def test_written_number_takes_a_unit() -> None:
    assert scale(read_number_word("six"), "minutes") == read_figure("6 minutes")


def test_word_is_no_number() -> None:
    assert read_number_word("one") == frozenset()
    assert read_figure("word") == frozenset()
