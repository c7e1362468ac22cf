from __future__ import annotations

from retrieval.store.visibility import Visibility


def test_a_reader_sees_the_same_set_to_its_end_whatever_changes() -> None:
    visibility = Visibility()
    visibility.change(hide=["new"])
    with visibility.reading() as hidden:
        visibility.change(hide=["old"], show=["new"])
        with visibility.reading() as inner:
            assert inner == hidden == {"new"}
    with visibility.reading() as hidden:
        assert hidden == {"old"}


def test_draining_waits_for_readers_of_before_alone() -> None:
    visibility = Visibility()
    with visibility.reading():
        assert visibility.drain(timeout_seconds=0)
        visibility.change(hide=["old"])
        assert not visibility.drain(timeout_seconds=0)
    assert visibility.drain(timeout_seconds=0)
