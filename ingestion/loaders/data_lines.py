"""Nested data as lines that each read alone: ``server.ports[0].name: http``. Used by JSON and XML.

Paths are shortened in the middle when they are deep, so that the text stays of the order of the data's own size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

_MAX_PATH_PARTS = 12
_MAX_INLINE = 200
"""A list of short plain values up to this many characters stands on one line."""


class _Place(NamedTuple):
    path: tuple[str, ...]
    value: object


def data_lines(value: object, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Lines of a value in its order; none for empty containers. Depth is the data's choice, so no recursion."""
    stack = [_Place(path, value)]
    while stack:
        place = stack.pop()
        children = _children(place)
        if children is None:
            if (text := scalar_text(place.value)) or not place.path:
                yield data_line(place.path, text)
        elif (inline := _inline(place.value)) is not None:
            if inline:
                yield data_line(place.path, inline)
        else:
            stack.extend(reversed(children))


def data_line(path: tuple[str, ...], text: str) -> str:
    """One value with the way to it."""
    if len(path) > _MAX_PATH_PARTS:
        half = _MAX_PATH_PARTS // 2
        path = (*path[:half], "...", *path[-half:])
    label = "".join(part if part.startswith("[") else f".{part}" for part in path).removeprefix(".")
    return f"{label}: {text}" if label else text


def scalar_text(value: object) -> str:
    """A plain value as a reader of the file knows it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _children(place: _Place) -> list[_Place] | None:
    """Values inside a container; None for a plain value."""
    path = place.path
    if isinstance(place.value, Mapping):
        items = cast("Mapping[object, object]", place.value)
        return [_Place((*path, str(key)), value) for key, value in items.items()]
    if isinstance(place.value, list):
        return [_Place((*path, f"[{index}]"), value) for index, value in enumerate(cast("list[object]", place.value))]
    return None


def _inline(value: object) -> str | None:
    """A short list of plain values on one line; None for all else."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    if any(isinstance(item, (Mapping, list)) for item in items) or len(items) > _MAX_INLINE:
        return None
    text = ", ".join(scalar_text(item) for item in items)
    return text if len(text) <= _MAX_INLINE and "\n" not in text else None
