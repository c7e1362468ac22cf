"""A model server while it runs: started, waited for, started again, its log shown, ended with Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from app.processes import ROOT
from app.serving.plan import ServePlan
from app.supervisor import ProcessSpec, Supervisor

_FOLLOW_SECONDS = 0.2
_STOP_SECONDS = 30.0
"""vLLM ends its engine's processes before itself."""


def server_process(plan: ServePlan, environ: Mapping[str, str], log_path: Path) -> ProcessSpec:
    """The server as a process to supervise."""
    path = environ.get("PYTHONPATH")
    own: dict[str, str] = {"PYTHONUNBUFFERED": "1"}
    if plan.environment is None:
        own["PYTHONPATH"] = ":".join(filter(None, [str(ROOT), path]))
    rest = {name: value for name, value in environ.items() if name != "PYTHONPATH"}
    return ProcessSpec(
        name="model server",
        argv=plan.command.argv,
        environ={**rest, **plan.command.environ, **own},
        log_path=log_path,
        health_url=f"{plan.url}{plan.health_path}",
        start_seconds=plan.settings.start_seconds,
        stop_seconds=_STOP_SECONDS,
    )


async def run_server(
    spec: ProcessSpec,
    *,
    on_event: Callable[[str], None],
    on_ready: Callable[[], None],
    on_log: Callable[[str], None] | None,
) -> None:
    """Run until somebody asks for the end or the server does not stay up.

    Args:
        spec: The server.
        on_event: Gets one sentence when the server died, starts again or is being ended.
        on_ready: Called once, when the server answers.
        on_log: Gets each new line of the server's log; None shows none.

    Raises:
        ProcessFailed: The server ended before it was ready, was not ready in time, or died too often.
    """
    supervisor = Supervisor([spec], on_event=on_event)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, supervisor.request_stop)
    position = spec.log_path.stat().st_size if spec.log_path.exists() else 0
    tasks = [asyncio.create_task(_work(supervisor, on_ready)), asyncio.create_task(supervisor.stop_requested())]
    follow = asyncio.create_task(follow_log(spec.log_path, on_log, position=position)) if on_log else None
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
        on_event("Stopping the model server; Ctrl-C again ends it at once.")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await supervisor.stop()
        if follow:
            follow.cancel()
            await asyncio.gather(follow, return_exceptions=True)


async def follow_log(path: Path, on_line: Callable[[str], None], *, position: int) -> None:
    """Hand on each line of the file that begins at or behind ``position`` bytes, until cancelled."""
    rest = b""
    while True:
        if path.exists():
            with path.open("rb") as log:
                log.seek(position)
                piece = log.read()
            position += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                on_line(line.decode("utf-8", errors="replace"))
        await asyncio.sleep(_FOLLOW_SECONDS)


async def _work(supervisor: Supervisor, on_ready: Callable[[], None]) -> None:
    await supervisor.start()
    on_ready()
    await supervisor.watch()
