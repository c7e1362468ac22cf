"""Straight level and upright lines that are drawn on a PDF page, pieces of one line joined."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

MAX_PATHS = 4000
"""A page of more is a drawing."""
_MAX_SEGMENTS = 400
"""A path of more segments is a curve or a picture."""
_THIN = 3.0
"""Points; a filled rectangle that is no wider is a line."""
_STRAIGHT = 0.5
_SAME = 1.5
_SHORTEST = 6.0

_Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line: ``at`` is its height when level, its distance from the left when upright; points of the page's space."""

    level: bool
    at: float
    start: float
    end: float


def rules_of(paths: Sequence[pdfium.PdfObject]) -> list[Rule]:
    """All lines among the paths of a page; none where there are more than ``MAX_PATHS``."""
    if len(paths) > MAX_PATHS:
        return []
    found = [rule for path in paths for rule in _rules_of(path)]
    return [rule for rule in _joined(found) if rule.end - rule.start >= _SHORTEST]


def _rules_of(path: pdfium.PdfObject) -> Iterator[Rule]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium_c.FPDFPath_GetDrawMode(path.raw, fill, stroke):
        return
    for points in _subpaths(path):
        if stroke.value:
            for (x1, y1), (x2, y2) in pairwise(points):
                if abs(y1 - y2) <= _STRAIGHT:
                    yield Rule(True, (y1 + y2) / 2, min(x1, x2), max(x1, x2))
                elif abs(x1 - x2) <= _STRAIGHT:
                    yield Rule(False, (x1 + x2) / 2, min(y1, y2), max(y1, y2))
        elif fill.value:
            xs, ys = [x for x, _ in points], [y for _, y in points]
            if max(ys) - min(ys) <= _THIN < max(xs) - min(xs):
                yield Rule(True, (min(ys) + max(ys)) / 2, min(xs), max(xs))
            elif max(xs) - min(xs) <= _THIN < max(ys) - min(ys):
                yield Rule(False, (min(xs) + max(xs)) / 2, min(ys), max(ys))


def _subpaths(path: pdfium.PdfObject) -> Iterator[list[_Point]]:
    """Corners of each piece in the page's space, closed ones with their first corner again; curves end a piece."""
    count = cast("int", pdfium_c.FPDFPath_CountSegments(path.raw))
    if not 2 <= count <= _MAX_SEGMENTS:
        return
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(path.raw, matrix)
    a, b, c, d, e, f = (cast("float", getattr(matrix, name)) for name in "abcdef")
    points: list[_Point] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(count):
        segment = pdfium_c.FPDFPath_GetPathSegment(path.raw, index)
        kind = cast("int", pdfium_c.FPDFPathSegment_GetType(segment))
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        point = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        if kind != pdfium_c.FPDF_SEGMENT_LINETO:
            if len(points) > 1:
                yield points
            points = []
        points.append(point)
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    if len(points) > 1:
        yield points


def _joined(rules: Iterable[Rule]) -> Iterator[Rule]:
    """One line for pieces that follow or cover each other."""
    last: Rule | None = None
    for rule in sorted(rules, key=lambda rule: (rule.level, round(rule.at / _SAME), rule.start)):
        if (
            last is not None
            and rule.level == last.level
            and abs(rule.at - last.at) <= _SAME
            and rule.start <= last.end + _SAME
        ):
            last = Rule(last.level, last.at, last.start, max(last.end, rule.end))
            continue
        if last is not None:
            yield last
        last = rule
    if last is not None:
        yield last
