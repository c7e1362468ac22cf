"""``groundwork serve`` and ``groundwork ui``: the two processes of ``up``, each alone, for containers and services."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.invocation import current

if TYPE_CHECKING:
    from app.settings import Settings

Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
Host = Annotated[str | None, typer.Option(help="Address to listen on.")]


def serve(context: typer.Context, host: Host = None, port: Port = None) -> None:
    """Run the API of this home, the model server included, without the chat UI.

    Example: groundwork serve --host 0.0.0.0 --port 8080
    """
    from app.serve import serve as serve_api

    settings = with_server(current(context).settings(), host=host, port=port)
    serve_api(settings)


def ui(
    context: typer.Context,
    host: Host = None,
    port: Port = None,
    api_url: Annotated[str | None, typer.Option(help="Address of the API; also GROUNDWORK_API_URL.")] = None,
) -> None:
    """Run the chat UI alone; it needs an API.

    Example: groundwork ui --api-url http://127.0.0.1:8080
    """
    from app.processes import local_url, ui_process
    from app.settings import API_URL_VARIABLE

    invocation = current(context)
    settings = with_server(invocation.settings(), ui_host=host, ui_port=port)
    server = settings.server
    url = api_url or invocation.environ.get(API_URL_VARIABLE) or local_url(server.host, server.port)
    spec = ui_process(settings, invocation.environ, api_url=url)
    # The UI takes the place of this process, so that signals reach it.
    os.execve(spec.argv[0], spec.argv, dict(spec.environ))


def with_server(settings: Settings, **fields: str | int | None) -> Settings:
    """Settings with these fields of the section ``server``; None leaves a field as it is."""
    given = {name: value for name, value in fields.items() if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})
