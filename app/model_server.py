"""The embedded model server: a child process that is started, watched, restarted and ended. Knows no HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import app
from agents.errors import ModelUnavailable
from agents.settings import ModelSettings
from app.model_process import ServeRequest

logger = logging.getLogger(__name__)

LOAD_TIMEOUT_SECONDS = 300.0
"""Longest load of a model; the default one takes 3 to 9 s."""
STOP_TIMEOUT_SECONDS = 5.0
MAX_LOG_BYTES = 5_000_000
"""A longer log is put aside when the server starts; one older log is kept."""
CHILD_COMMAND = (sys.executable, "-m", "app.model_process")


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses between restarts: doubled after every failure in a row."""

    first_seconds: float = 0.5
    longest_seconds: float = 30.0
    steady_seconds: float = 60.0
    """A server that was ready for so long has no failures in a row."""

    def pause_seconds(self, failures: int) -> float:
        """Pause after that many failures in a row."""
        return min(self.longest_seconds, self.first_seconds * 2 ** (failures - 1))


class ServerState(NamedTuple):
    """What the server does now; ``message`` is one sentence for a person."""

    status: Literal["stopped", "starting", "ready", "failed"]
    message: str


class EmbeddedModelServer:
    """llama.cpp in a child process, on a free loopback port, behind a random key.

    Belongs to the event loop that ``start`` was called in; the child dies with the thread that runs this loop.
    """

    def __init__(
        self,
        model_path: Path,
        settings: ModelSettings,
        log_path: Path,
        *,
        back_off: BackOff | None = None,
        command: Sequence[str] = CHILD_COMMAND,
    ) -> None:
        self._model_path = model_path
        self._settings = settings
        self._log_path = log_path
        self._back_off = back_off or BackOff()
        self._command = tuple(command)
        self._api_key = secrets.token_urlsafe(32)
        self._state = ServerState("stopped", "The model server is not started.")
        self._base_url = ""
        self._changed = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None

    @property
    def api_key(self) -> str:
        """Key that the server wants from its clients; the same over restarts."""
        return self._api_key

    @property
    def state(self) -> ServerState:
        """What the server does now."""
        return self._state

    @property
    def process_id(self) -> int | None:
        """Process id of the child, None while there is none."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> None:
        """Begin to start the server; returns at once, ``base_url`` waits for it."""
        if self._supervisor is None:
            self._set("starting", "The model server is loading the model.")
            self._supervisor = asyncio.create_task(self._supervise(), name="model-server")

    async def base_url(self) -> str:
        """Address that ends in ``/v1``; waits while the model is loading.

        Raises:
            ModelUnavailable: The server is stopped, or failed to start.
        """
        while self._state.status == "starting":
            await self._changed.wait()
        if self._state.status != "ready":
            raise ModelUnavailable(self._state.message)
        return self._base_url

    async def next_state(self) -> ServerState:
        """The state after the next change of it."""
        await self._changed.wait()
        return self._state

    async def stop(self) -> None:
        """End the server and wait until its process is gone."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor:
            supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervisor
        self._set("stopped", "The model server is stopped.")

    def _set(self, status: Literal["stopped", "starting", "ready", "failed"], message: str) -> None:
        self._state = ServerState(status, message)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            ready_at: float | None = None
            process = await self._spawn()
            try:
                self._base_url = await self._handshake(process)
                ready_at = loop.time()
                self._set("ready", "The model server is ready.")
                logger.info("model server ready", extra={"process_id": process.pid})
                await process.wait()
            except _StartFailed as error:
                problem = str(error)
            else:
                problem = f"ended with status {process.returncode}"
            finally:
                await _end(process)
            steady = ready_at is not None and loop.time() - ready_at >= self._back_off.steady_seconds
            failures = 1 if steady else failures + 1
            await self._pause(problem, failures, was_ready=ready_at is not None)

    async def _pause(self, problem: str, failures: int, *, was_ready: bool) -> None:
        pause = self._back_off.pause_seconds(failures)
        message = (
            f"The model server {problem}; it is started again in {pause:.0f} s. See {str(self._log_path)!r}, and run"
            " 'groundwork models verify' if it does not recover."
        )
        # Requests wait for the restart of a server that ran; they fail at once when it does not come up.
        self._set("starting" if was_ready and failures == 1 else "failed", message)
        logger.warning("model server down", extra={"problem": problem, "failures": failures, "pause_seconds": pause})
        await asyncio.sleep(pause)
        if self._state.status == "starting":
            self._set("starting", "The model server is loading the model.")

    async def _spawn(self) -> asyncio.subprocess.Process:
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        if self._log_path.exists() and self._log_path.stat().st_size > MAX_LOG_BYTES:
            self._log_path.replace(self._log_path.with_name(self._log_path.name + ".1"))
        with self._log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                # Comes first on the child's path, so that no other package named "app" can win.
                cwd=Path(str(app.__file__)).absolute().parents[1],
                start_new_session=True,  # Ctrl-C in a terminal is for the parent, which then ends the child
            )
        return self._process

    async def _handshake(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdin, "spawned with pipes"
        assert process.stdout, "spawned with pipes"
        request = ServeRequest(
            model_path=str(self._model_path.absolute()),
            name=self._settings.name,
            api_key=self._api_key,
            context_tokens=self._settings.context_tokens,
            parallel=self._settings.parallel,
            threads=self._settings.threads or physical_cores(),
            parent_id=os.getpid(),
            batch_tokens=self._settings.batch_tokens,
        )
        try:
            process.stdin.write((json.dumps(asdict(request)) + "\n").encode())
            async with asyncio.timeout(LOAD_TIMEOUT_SECONDS):
                await process.stdin.drain()
                line = await process.stdout.readline()
                if line:
                    return str(json.loads(line)["base_url"])
                await process.wait()
        except TimeoutError as error:
            raise _StartFailed(f"did not load the model within {LOAD_TIMEOUT_SECONDS:.0f} s") from error
        except (ConnectionError, ValueError, KeyError) as error:
            raise _StartFailed("ended while it was starting") from error
        raise _StartFailed(f"could not load {str(self._model_path)!r} and ended with status {process.returncode}")


class _StartFailed(Exception):
    """The child did not become ready; the message continues "The model server ..."."""


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin:
        process.stdin.close()
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def physical_cores() -> int:
    """Physical cores this process may use; hyper-threads of one core slow each other down."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        blocks = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")
    except OSError:
        return allowed
    cores = {
        tuple(
            line.partition(":")[2].strip() for line in block.splitlines() if line.startswith(("physical id", "core id"))
        )
        for block in blocks
        if block.strip()
    }
    return max(1, min(allowed, len(cores)))
