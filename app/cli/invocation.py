"""One call of the command line: its global options, its settings, its way to the API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from app.client import ApiClient
    from app.settings import Settings

T = TypeVar("T")
Body = TypeVar("Body", bound="BaseModel")
Connect: TypeAlias = "Callable[[Settings], AbstractAsyncContextManager[ApiClient]]"
"""Opens a client of the API that serves this home."""


@dataclass(slots=True)
class Invocation:
    """Filled by the root callback, read by the commands."""

    environ: Mapping[str, str]
    connect: Connect
    config: Path | None = None
    home: Path | None = None
    debug: bool = False

    def settings(self) -> Settings:
        """Settings of this call.

        Raises:
            SettingsInvalid: A setting is unknown or does not fit.
        """
        from app.settings import HOME_VARIABLE, load_settings

        environ = dict(self.environ)
        if self.home is not None:
            environ[HOME_VARIABLE] = str(self.home)
        return load_settings(environ, config=self.config)

    def call(self, work: Callable[[ApiClient], Awaitable[T]]) -> T:
        """Result of ``work`` with a client of the API of this home."""
        settings = self.settings()

        async def with_client() -> T:
            async with self.connect(settings) as client:
                return await work(client)

        return asyncio.run(with_client())


def current(context: typer.Context) -> Invocation:
    """The call that a command belongs to."""
    return context.ensure_object(Invocation)


def parse_request(kind: type[Body], /, **fields: object) -> Body:
    """The request body of these fields.

    Raises:
        typer.BadParameter: A field does not fit; names the field.
    """
    from pydantic import ValidationError

    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise typer.BadParameter(f"{first['loc'][0]}: {first['msg']}.") from error


def parse_filter(pairs: list[str]) -> dict[str, str | int | float | bool]:
    """Metadata filter from ``key=value`` pairs; ``true``, ``false`` and numbers become what they look like.

    Raises:
        typer.BadParameter: A pair has no ``=`` or no key.
    """
    return dict(_parse_pair(pair) for pair in pairs)


def parse_setting(pair: str) -> tuple[str, str | int | float | bool]:
    """Name and value of ``section.name=value``; raises ``typer.BadParameter``."""
    name, separator, text = pair.partition("=")
    if not separator or "." not in name:
        raise typer.BadParameter(f"{pair!r} is not section.name=value.", param_hint="--set")
    return name.strip(), _parse_value(text)


def _parse_pair(pair: str) -> tuple[str, str | int | float | bool]:
    key, separator, text = pair.partition("=")
    if not separator or not key.strip():
        raise typer.BadParameter(f"{pair!r} is not key=value.", param_hint="--filter")
    return key.strip(), _parse_value(text)


def _parse_value(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
