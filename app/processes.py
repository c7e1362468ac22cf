"""The processes that ``up`` runs: how the API and the chat UI are started, each in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app.settings import API_URL_VARIABLE, Settings
from app.supervisor import ProcessSpec

ROOT: Final = Path(__file__).parents[1]
"""Folder that holds the packages; children find them there first, whatever else is installed."""
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def api_process(settings: Settings, environ: Mapping[str, str], *, config: Path | None) -> ProcessSpec:
    """The API of this home; it owns the store and the model server."""
    server = settings.server
    argv = [sys.executable, "-m", "app", "--home", str(settings.home_path)]
    if config is not None:
        argv += ["--config", str(config.absolute())]
    argv += ["serve", "--host", server.host, "--port", str(server.port)]
    return ProcessSpec(
        name="API",
        argv=tuple(argv),
        environ=_child_environ(environ),
        log_path=settings.home.logs / "api.log",
        health_url=f"{local_url(server.host, server.port)}/healthz",
    )


def ui_process(settings: Settings, environ: Mapping[str, str], *, api_url: str) -> ProcessSpec:
    """The chat UI, which speaks to the API at ``api_url``."""
    server = settings.server
    return ProcessSpec(
        name="UI",
        argv=ui_command(server.ui_host, server.ui_port),
        environ={**_child_environ(environ), API_URL_VARIABLE: api_url},
        log_path=settings.home.logs / "ui.log",
        health_url=f"{local_url(server.ui_host, server.ui_port)}/_stcore/health",
    )


def ui_command(host: str, port: int) -> tuple[str, ...]:
    """Program and arguments of the chat UI."""
    options = {
        "server.headless": "true",
        "server.address": host,
        "server.port": str(port),
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "global.developmentMode": "false",
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    return (sys.executable, "-m", "streamlit", "run", str(ROOT / "ui" / "main.py"), *flags)


def local_url(host: str, port: int) -> str:
    """URL that reaches a server of this machine which is bound to ``host``."""
    return f"http://{_EVERY_ADDRESS.get(host, host)}:{port}"


def _child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    path = [str(ROOT), *filter(None, [environ.get("PYTHONPATH")])]
    return {**environ, "PYTHONPATH": ":".join(path), "PYTHONUNBUFFERED": "1"}
