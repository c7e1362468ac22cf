"""How a route gets at the platform."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.wiring import Platform


def open_platform_of(request: Request) -> Platform:
    """The platform that the application opened at its start."""
    platform: Platform = request.app.state.platform
    return platform


PlatformDep = Annotated[Platform, Depends(open_platform_of)]
