"""An MCP server with one effect that can be counted: each call appends its label to a file and syncs it.

python -m evals.kill.counter_server EFFECTS_FILE
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

LONGEST_SECONDS = 0.4
"""A call takes up to this long before its effect, and again after it, so that kills meet both sides."""


def build(effects: Path) -> MCPServer:
    """The server over that file."""
    server = MCPServer("counter")

    @server.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=False, open_world_hint=False))
    def press(label: Annotated[str, Field(description="What to press.")]) -> str:
        """Press a button once."""
        time.sleep(random.uniform(0, LONGEST_SECONDS))
        with effects.open("a", encoding="utf-8") as file:
            file.write(f"{label}\n")
            file.flush()
            os.fsync(file.fileno())
        time.sleep(random.uniform(0, LONGEST_SECONDS))
        return f"The button {label} was pressed."

    return server


if __name__ == "__main__":
    build(Path(sys.argv[1])).run()
