"""``groundwork up``: models, API and chat UI together; one Ctrl-C ends all."""

from __future__ import annotations

import asyncio
import signal
import sys
import webbrowser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.connection import connect_running
from app.cli.first_start import add_sample_cluster, ingest_samples, wait_announced, wait_ready
from app.cli.invocation import current
from app.cli.models import pull_model, used_models
from app.cli.serve import with_server

if TYPE_CHECKING:
    from app.settings import Settings
    from app.supervisor import Supervisor

Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]


def up(
    context: typer.Context,
    port: Port = None,
    ui_port: Port = None,
    samples: Annotated[bool, typer.Option(help="Ingest the sample handbook on the first start.")] = True,
    browser: Annotated[bool, typer.Option(help="Open the chat in a browser once it is ready.")] = True,
) -> None:
    """Start everything: fetch missing models, run the API with its model server and the chat UI, print the URLs.

    A part that dies is started again. Ctrl-C ends all parts in order, a second one at once.

    Example: groundwork up --port 8080 --ui-port 8501
    """
    from app.errors import HomeLocked
    from app.home_lock import running_api
    from app.processes import api_process, local_url, ui_process
    from app.supervisor import Supervisor, claim_port

    invocation = current(context)
    settings = with_server(invocation.settings(), port=port, ui_port=ui_port)
    server = settings.server
    running = running_api(settings.home)
    if running is not None:
        raise HomeLocked(
            f"Groundwork already runs for this home at {running.url} (process {running.pid}); "
            "use that, or choose another --home."
        )
    settings = with_server(
        settings,
        port=claim_port(server.host, server.port, option="--port"),
        ui_port=claim_port(server.ui_host, server.ui_port, option="--ui-port"),
    )
    for name in used_models(settings):
        pull_model(settings, name)
    api_url = local_url(settings.server.host, settings.server.port)
    specs = [
        api_process(settings, invocation.environ, config=invocation.config),
        ui_process(settings, invocation.environ, api_url=api_url),
    ]

    async def run() -> None:
        supervisor = Supervisor(specs, on_event=output.write_error)
        await _run(supervisor, settings, samples=samples, browser=browser and _has_display(invocation.environ))

    asyncio.run(run())


async def _run(supervisor: Supervisor, settings: Settings, *, samples: bool, browser: bool) -> None:
    """Until somebody asks for the end or a part does not stay up."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, supervisor.request_stop)
    work = asyncio.create_task(_work(supervisor, settings, samples=samples, browser=browser))
    stop = asyncio.create_task(supervisor.stop_requested())
    try:
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
        output.write_error("Stopping; Ctrl-C again ends everything at once.")
    finally:
        work.cancel()
        stop.cancel()
        await asyncio.gather(work, stop, return_exceptions=True)
        await supervisor.stop()


async def _work(supervisor: Supervisor, settings: Settings, *, samples: bool, browser: bool) -> None:
    output.write_error("Starting the API and the chat.")
    await supervisor.start()
    watch = asyncio.create_task(supervisor.watch())
    prepare = asyncio.create_task(_prepare(settings, samples=samples, browser=browser))
    try:
        await asyncio.wait({watch, prepare}, return_when=asyncio.FIRST_COMPLETED)
        if prepare.done():
            prepare.result()
        await watch
    finally:
        watch.cancel()
        prepare.cancel()
        await asyncio.gather(watch, prepare, return_exceptions=True)


async def _prepare(settings: Settings, *, samples: bool, browser: bool) -> None:
    await wait_announced(settings)
    async with connect_running(settings) as client:
        if samples:
            await add_sample_cluster(client, settings)
            await ingest_samples(client, settings)
        problem = await wait_ready(client, settings)
    _print_places(settings, problem)
    if browser:
        webbrowser.open(_ui_url(settings))


def _print_places(settings: Settings, problem: str) -> None:
    api_url = _api_url(settings)
    places = {
        "Chat": _ui_url(settings),
        "API": api_url,
        "API docs": f"{api_url}/docs",
        "OpenAI API": f"{api_url}/v1",
        "Data": str(settings.home_path),
        "Logs": str(settings.home.logs),
    }
    heading = f"Groundwork runs, but not every part is ready: {problem}" if problem else "Groundwork is ready."
    lines = [f"  {name:12}{place}" for name, place in places.items()]
    output.write_text("\n".join([heading, *lines, "Ctrl-C ends everything."]) + "\n")


def _api_url(settings: Settings) -> str:
    from app.processes import local_url

    return local_url(settings.server.host, settings.server.port)


def _ui_url(settings: Settings) -> str:
    from app.processes import local_url

    return local_url(settings.server.ui_host, settings.server.ui_port)


def _has_display(environ: Mapping[str, str]) -> bool:
    """Whether a browser window can open; a text browser would take the terminal."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
