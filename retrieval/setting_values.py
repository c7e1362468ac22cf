"""Values of settings as the environment holds them: texts that stand for lists and tables. Reads no environment."""

from __future__ import annotations

import json
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator


def split_commas(value: object) -> object:
    """A list is written with commas between its parts; anything but a text is left as it is."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def parse_json(value: object) -> object:
    """A table, or a list of tables, is written as JSON; anything but a text is left as it is."""
    return json.loads(value) if isinstance(value, str) else value


Words: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(split_commas)]
"""A list of words, with commas in the environment."""
FromJson = BeforeValidator(parse_json)
"""Marks a field whose text is JSON."""
