"""A chart of an Open XML document as text: its title, and its series as a table. Knows not where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.loaders.grid import render
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import Element, whole_number

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CHART_REFERENCE = _C + "chart"
_MAX_POINTS = 10_000
"""Points of one series; charts of more are pictures of a table that is somewhere else."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Title and Markdown table of a chart, each empty where it has none."""

    title: str
    table: str


def read_chart(root: Element) -> Chart:
    """What a chart part says: a row for each category, a column for each series, values as they were last drawn."""
    title = root.find(f"{_C}chart/{_C}title")
    series = list(root.iter(_C + "ser"))
    categories: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for one in series:
        categories = categories or _points(_child(one, "cat", "xVal"))
        columns.append(_points(_child(one, "val", "yVal")))
    names = ["".join(_points(_child(one, "tx")).values()) for one in series]
    places = sorted({*categories, *(place for column in columns for place in column)})[:_MAX_POINTS]
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    table = render([["", *names], *rows], keep_empty_header=True) if rows else ""
    return Chart(_text(title), table)


def _child(element: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := element.find(_C + name)) is not None), None)


def _points(element: Element | None) -> dict[int, str]:
    """Values by their place; a series' name stands at place 0, or without one."""
    if element is None:
        return {}
    found: dict[int, str] = {}
    for point in element.iter(_C + "pt"):
        found.setdefault(whole_number(point.get("idx")), collapse(point.findtext(_C + "v") or ""))
    return found or ({0: direct} if (direct := collapse(element.findtext(_C + "v") or "")) else {})


def _text(element: Element | None) -> str:
    if element is None:
        return ""
    return collapse(" ".join(part.text or "" for part in element.iter(_A + "t")))
