from __future__ import annotations

from ui.event_stream import read_events


def test_event_cut_anywhere_comes_out_whole() -> None:
    stream = 'id: 1\nevent: token\ndata: {"text": "é"}\n\n'.encode()

    for cut in range(len(stream) + 1):
        assert list(read_events([stream[:cut], stream[cut:]])) == ['{"text": "é"}']


def test_comments_are_passed_over_and_lines_of_data_are_joined() -> None:
    stream = b": ping\n\ndata: a\ndata: b\n\n: ping\n\ndata: c\n\n"

    assert list(read_events([stream])) == ["a\nb", "c"]


def test_line_separators_inside_the_text_do_not_end_a_line() -> None:
    stream = 'data: {"text": "a\u2028b\u0085c"}\n\n'.encode()

    assert list(read_events([stream])) == ['{"text": "a\u2028b\u0085c"}']


def test_carriage_returns_before_line_feeds_are_dropped() -> None:
    assert list(read_events([b"data: a\r\n\r\n"])) == ["a"]


def test_event_without_its_end_is_not_given_out() -> None:
    assert list(read_events([b"data: a\n"])) == []
