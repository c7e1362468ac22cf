"""Options of the command line for how an answer is drawn: sampling, and the schema of an object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import typer

NAMES = ("top_p", "top_k", "min_p", "stop", "presence_penalty", "frequency_penalty", "repetition_penalty")


def parse_sampling(pairs: list[str]) -> dict[str, object]:
    """Values by name, for ``app.sampling_schema.SamplingChoice``; ``stop`` may come more than once.

    Raises:
        typer.BadParameter: A pair has no ``=`` or another name.
    """
    values: dict[str, object] = {}
    stops: list[str] = []
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or name not in NAMES:
            raise typer.BadParameter(f"{pair!r} is not one of {', '.join(NAMES)}, =, value.", param_hint="--sampling")
        if name == "stop":
            stops.append(text)
        else:
            values[name] = text
    return values | ({"stop": tuple(stops)} if stops else {})


def given(**values: object) -> dict[str, object]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def read_schema(path: Path) -> dict[str, object]:
    """The JSON Schema in a file; the server checks what it says.

    Raises:
        typer.BadParameter: The file cannot be read or holds no JSON object.
    """
    try:
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{str(path)!r} cannot be read: {error.strerror}.", param_hint="--schema") from error
    except ValueError as error:
        raise typer.BadParameter(f"{str(path)!r} is no JSON: {error}.", param_hint="--schema") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f"{str(path)!r} holds no JSON object.", param_hint="--schema")
    return cast(dict[str, object], value)
