"""Reads docker-compose.yml as ``docker compose`` would: anchors merged, variables replaced from given values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?:(?P<operator>:-|:\?)(?P<value>[^}]*))?\})")


@dataclass(frozen=True, slots=True)
class MissingVariable(Exception):
    """A variable that compose insists on is not set."""

    name: str


def read_env_file(path: Path) -> dict[str, str]:
    """Variables of an env file; comments and empty lines are left out."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def read_compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """The file as a mapping, with every ``${NAME:-default}`` replaced.

    Raises:
        MissingVariable: A ``${NAME:?message}`` has no value.
    """
    document = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return _replace(document, variables)


def _replace(node: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        mapping: dict[Any, Any] = node  # pyright: ignore[reportUnknownVariableType] - YAML is untyped
        return {key: _replace(value, variables) for key, value in mapping.items()}
    if isinstance(node, list):
        items: list[Any] = node  # pyright: ignore[reportUnknownVariableType] - YAML is untyped
        return [_replace(item, variables) for item in items]
    return _VARIABLE.sub(lambda match: _value(match, variables), node) if isinstance(node, str) else node


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    if match.group() == "$$":
        return "$"
    value = variables.get(match["name"], "")
    if value or match["operator"] is None:
        return value
    if match["operator"] == ":?":
        raise MissingVariable(match["name"])
    return match["value"]
