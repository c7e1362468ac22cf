"""Plots as SVG: bars, dots with intervals, a strip of all questions, a curve. Text inside is escaped. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from agents.thresholds import CurvePoint

_ROW = 26
_LABEL = 190
_PLOT = 400
_VALUE = 110


class Bar(NamedTuple):
    """A share in [0, 1] with its name; ``note`` stands behind it."""

    name: str
    share: float
    note: str


class SizeLatency(NamedTuple):
    """Milliseconds of a search over so many chunks."""

    chunks: int
    p50: float
    p95: float


class Difference(NamedTuple):
    """A difference with its interval, all in [-1, 1]."""

    name: str
    value: float
    low: float
    high: float


def bars(rows: Sequence[Bar], *, title: str) -> str:
    """Horizontal bars from 0 to 1."""
    parts: list[str] = []
    for number, row in enumerate(rows):
        top = number * _ROW
        width = max(0.0, min(row.share, 1.0)) * _PLOT
        parts += [
            f'<text x="{_LABEL - 8}" y="{top + 17}" text-anchor="end">{escape(row.name)}</text>',
            f'<rect class="track" x="{_LABEL}" y="{top + 5}" width="{_PLOT}" height="16"/>',
            f'<rect class="bar" x="{_LABEL}" y="{top + 5}" width="{width:.1f}" height="16"/>',
            f'<text x="{_LABEL + _PLOT + 8}" y="{top + 17}">{escape(row.note)}</text>',
        ]
    return _svg(parts, len(rows), title)


def differences(rows: Sequence[Difference], *, title: str) -> str:
    """A dot and its interval on an axis around 0; the axis is as wide as the widest interval."""
    reach = max([0.05, *(max(abs(row.low), abs(row.high)) for row in rows)])
    middle = _LABEL + _PLOT / 2

    def x(value: float) -> float:
        return middle + value / reach * _PLOT / 2

    parts = [f'<line class="axis" x1="{middle}" x2="{middle}" y1="0" y2="{len(rows) * _ROW}"/>']
    for number, row in enumerate(rows):
        y = number * _ROW + 13
        parts += [
            f'<text x="{_LABEL - 8}" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>',
            f'<line class="interval" x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{y}" y2="{y}"/>',
            f'<circle class="dot" cx="{x(row.value):.1f}" cy="{y}" r="5"/>',
            f'<text x="{_LABEL + _PLOT + 8}" y="{y + 4}">{row.value:+.3f}</text>',
        ]
    return _svg(parts, len(rows), title)


def strip(passed: Sequence[tuple[str, bool]], *, title: str) -> str:
    """One square for each question in the order of the set; its name shows when a pointer rests on it."""
    size, columns = 14, 40
    parts = [
        f'<rect class="{"pass" if good else "fail"}" x="{number % columns * (size + 3)}" '
        f'y="{number // columns * (size + 3)}" width="{size}" height="{size}"><title>{escape(name)}</title></rect>'
        for number, (name, good) in enumerate(passed)
    ]
    height = (len(passed) + columns - 1) // columns * (size + 3)
    return _wrap(parts, min(len(passed), columns) * (size + 3), height, title)


def curve_svg(points: Sequence[CurvePoint], *, of: str) -> str:
    """Precision and recall of abstaining over the threshold, as a file of its own."""
    width, height, edge = 560, 300, 44

    def place(threshold: float, share: float) -> str:
        return f"{edge + threshold * (width - 2 * edge):.1f},{height - edge - share * (height - 2 * edge):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="Precision and recall of abstaining by threshold of the {escape(of)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for step in range(6):
        share = step / 5
        parts += [
            f'<polyline points="{place(0, share)} {place(1, share)}" stroke="#dddddd"/>',
            f'<text x="{edge - 8}" y="{place(0, share).split(",")[1]}" text-anchor="end">{share:.1f}</text>',
            f'<text x="{place(share, 0).split(",")[0]}" y="{height - 26}" text-anchor="middle">{share:.1f}</text>',
        ]
    parts.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">threshold of the {escape(of)}</text>')
    for place_of_name, (name, colour) in enumerate((("precision", "#1f5fa8"), ("recall", "#b4511d"))):
        line = " ".join(place(point.threshold, getattr(point, name)) for point in points)
        parts += [
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{edge + 90 * place_of_name}" y="20" fill="{colour}">{name}</text>',
        ]
    return "".join([*parts, "</svg>\n"])


def growth_svg(sizes: Sequence[SizeLatency]) -> str:
    """Median and 95th percentile of a search over the number of chunks, both axes logarithmic, as a file of its own."""
    width, height, edge = 560, 320, 52
    decades = _decades([float(size.chunks) for size in sizes])
    milliseconds = _decades([value for size in sizes for value in (size.p50, size.p95)])

    def place(chunks: float, ms: float) -> tuple[float, float]:
        x = edge + _share(chunks, decades) * (width - 2 * edge)
        return x, height - edge - _share(ms, milliseconds) * (height - 2 * edge)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12" role="img" aria-label="Milliseconds of a search over the number of chunks">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for power in range(decades[0], decades[1] + 1):
        x, y = place(10.0**power, 10.0 ** milliseconds[0])
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{10**power:,}</text>')
    for power in range(milliseconds[0], milliseconds[1] + 1):
        (left, y), (right, _) = (place(10.0**end, 10.0**power) for end in decades)
        parts += [
            f'<polyline points="{left:.1f},{y:.1f} {right:.1f},{y:.1f}" stroke="#dddddd"/>',
            f'<text x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} ms</text>',
        ]
    parts.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">chunks</text>')
    for number, (name, colour) in enumerate((("p50", "#1f5fa8"), ("p95", "#b4511d"))):
        dots = [place(size.chunks, getattr(size, name)) for size in sorted(sizes, key=lambda size: size.chunks)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        parts += [
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in dots),
            f'<text x="{edge + 60 * number}" y="24" fill="{colour}">{name}</text>',
        ]
    return "".join([*parts, "</svg>\n"])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Powers of ten around the values, at least one apart."""
    low = math.floor(math.log10(min(values)))
    return low, max(low + 1, math.ceil(math.log10(max(values))))


def _share(value: float, decades: tuple[int, int]) -> float:
    low, high = decades
    return (math.log10(value) - low) / (high - low)


def _svg(parts: Sequence[str], rows: int, title: str) -> str:
    return _wrap(parts, _LABEL + _PLOT + _VALUE, rows * _ROW, title)


def _wrap(parts: Sequence[str], width: float, height: float, title: str) -> str:
    inner = "".join(parts)
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px">{inner}</svg>'
    )
