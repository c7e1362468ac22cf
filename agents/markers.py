"""Citation markers that a model writes: taken out of the text while it streams, remembered with their place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_MARKER = re.compile(
    r"[\[【][ \t]*\^?(?:(?:passage|source|document|doc|ref|citation)s?[ \t]*)?#?(\d{1,3})"
    r"((?:[ \t]*(?:,|;|&|-|–|and|to)?[ \t]*(?:passage|source|document)?s?[ \t]*#?\d{1,3}){0,12})[ \t]*[\]】]",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[\[【][\w \t^#,;&–-]*", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})[ \t]*(?:-|–|to)[ \t]*(\d{1,3})")
MAX_MARKER_CHARACTERS = 80
"""Longer brackets are text."""


class Marker(NamedTuple):
    """Numbers the model wrote, and where in the text without markers."""

    offset: int
    numbers: tuple[int, ...]


@dataclass(slots=True)
class MarkerFilter:
    """Takes markers out of a stream; where it is cut makes no difference. Code is left alone.

    Feed pieces in order, then call ``close`` once; the joined results are the text without markers.
    """

    markers: list[Marker] = field(default_factory=list[Marker])
    _pending: str = ""
    _length: int = 0
    _last: str = "\n"
    """The last character that was shown."""
    _fence: int = 0
    """Length of the run of backticks that opened the code we are in; 0 outside."""
    _after_break: bool = True

    def feed(self, piece: str) -> str:
        """What of the text so far is decided and not given out yet."""
        self._pending += piece
        return self._settle(final=False)

    def close(self) -> str:
        """The rest."""
        return self._settle(final=True)

    def _settle(self, *, final: bool) -> str:
        out: list[str] = []
        text, place = self._pending, 0
        while place < len(text):
            step = self._step(text, place, final=final)
            if step is None:
                break
            end, shown = step
            out.append(shown)
            self._length += len(shown)
            self._last = shown[-1:] or self._last
            place = end
        self._pending = text[place:]
        return "".join(out)

    def _step(self, text: str, place: int, *, final: bool) -> tuple[int, str] | None:
        """End of the next decided stretch and what of it is shown; None to wait for more."""
        if text[place] == "`":
            return self._backticks(text, place, final=final)
        if self._fence:
            return self._code(text, place)
        gap = place
        while gap < len(text) and text[gap] in " \t":
            gap += 1
        if gap == len(text):
            return (gap, text[place:]) if final else None
        if text[gap] in "[【":
            return self._bracket(text, place, gap, final=final)
        if gap > place and self._opens_line():
            return gap, ""
        end = gap if gap > place else self._plain_end(text, place)
        self._after_break = text[end - 1] == "\n" if end > place else self._after_break
        return end, text[place:end]

    def _opens_line(self) -> bool:
        """Whether a marker was taken out at the start of a line; the blank behind it goes with it."""
        return self._last == "\n" and bool(self.markers) and self.markers[-1].offset == self._length

    def _plain_end(self, text: str, place: int) -> int:
        end = place + 1
        while end < len(text) and text[end] not in " \t[【`":
            end += 1
        return end

    def _bracket(self, text: str, place: int, gap: int, *, final: bool) -> tuple[int, str] | None:
        marker = _MARKER.match(text, gap)
        if marker:
            self.markers.append(Marker(self._length, _numbers(marker)))
            return marker.end(), ""
        opening = _OPENING.match(text, gap)
        undecided = opening is not None and opening.end() == len(text) and len(text) - gap <= MAX_MARKER_CHARACTERS
        if undecided and not final:
            return None
        return gap + 1, text[place : gap + 1]

    def _backticks(self, text: str, place: int, *, final: bool) -> tuple[int, str] | None:
        end = place
        while end < len(text) and text[end] == "`":
            end += 1
        if end == len(text) and not final:
            return None
        run = end - place
        if self._fence == 0:
            self._fence = run
        elif run == self._fence or (self._fence >= 3 and run >= self._fence):
            self._fence = 0
        self._after_break = False
        return end, text[place:end]

    def _code(self, text: str, place: int) -> tuple[int, str]:
        """One character of code; an empty line ends code that a lone backtick opened."""
        is_break = text[place] == "\n"
        if is_break and self._after_break and self._fence < 3:
            self._fence = 0
        self._after_break = is_break
        return place + 1, text[place]


def strip_markers(text: str) -> tuple[str, tuple[Marker, ...]]:
    """The text without markers, and the markers with their places in it."""
    marker_filter = MarkerFilter()
    shown = marker_filter.feed(text) + marker_filter.close()
    return shown, tuple(marker_filter.markers)


def _numbers(marker: re.Match[str]) -> tuple[int, ...]:
    inside = marker.group()
    numbers: list[int] = []
    for low, high in _RANGE.findall(inside):
        if 0 < int(high) - int(low) <= 20:
            numbers.extend(range(int(low), int(high) + 1))
    numbers.extend(int(number) for number in re.findall(r"\d{1,3}", inside))
    return tuple(dict.fromkeys(numbers))
