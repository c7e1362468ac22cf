"""``current_time``: date and time in a time zone."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tools.errors import ToolError
from tools.function_tool import function_tool
from tools.types import Tool, ToolOutput


def current_time_tool(*, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Tool:
    """The tool over a clock that gives the present moment with its zone."""

    async def current_time(timezone: str = "UTC") -> ToolOutput:
        """Tell the present date and time.

        Args:
            timezone: Name of a time zone, Europe/Berlin for example.
        """
        now = clock().astimezone(_zone(timezone))
        offset = now.strftime("%z")
        spoken = now.strftime("%A, %d %B %Y, %H:%M:%S")
        stamp = now.isoformat(timespec="seconds")
        text = f"{spoken} in {timezone} (UTC{offset[:3]}:{offset[3:]}); ISO 8601: {stamp}"
        return ToolOutput(text, {"iso": stamp, "timezone": timezone})

    return function_tool(current_time, risk="read", timeout_seconds=5.0)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = difflib.get_close_matches(name, sorted(available_timezones()), n=3, cutoff=0.5)
        advice = f"did you mean {' or '.join(near)}?" if near else "write UTC, or a name such as Europe/Berlin."
        raise ToolError(f"There is no time zone {name!r}; {advice}") from error
