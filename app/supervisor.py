"""Child processes that run together: started, waited for, started again when they die, stopped in order.

Knows processes, logs and health URLs; knows nothing of what the processes do.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.errors import PortTaken, ProcessFailed

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h: the signal a process gets when its parent dies."""
_HEALTH_INTERVAL_SECONDS = 0.1
_LOG_TAIL_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to run.

    Attributes:
        name: What people call it, ``API`` for example.
        argv: Program and arguments.
        environ: Its whole environment.
        log_path: File that its output is appended to.
        health_url: Answers with status 200 once the process is ready to work.
        start_seconds: Longest wait for that.
        stop_seconds: Time it has to end after SIGTERM before it is killed.
    """

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str]
    log_path: Path
    health_url: str
    start_seconds: float = 120.0
    stop_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When a dead process is started again: after 1, 2, 4 ... times ``base_seconds``, not more often than ``limit``."""

    base_seconds: float = 1.0
    max_seconds: float = 30.0
    limit: int = 5
    window_seconds: float = 300.0


@dataclass(slots=True)
class _Child:
    spec: ProcessSpec
    process: asyncio.subprocess.Process | None = None
    log_offset: int = 0
    deaths: deque[float] = field(default_factory=deque[float])


class Supervisor:
    """Runs processes in the given order and stops them in the reverse one. Use from one event loop.

    Args:
        specs: What to run, first started first.
        policy: How often a dead process is started again.
        on_event: Called with one sentence when a process died or was started again.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        *,
        policy: RestartPolicy | None = None,
        on_event: Callable[[str], None] = logger.info,
    ) -> None:
        self._children = [_Child(spec) for spec in specs]
        self._policy = policy or RestartPolicy()
        self._on_event = on_event
        self._stop_requested = asyncio.Event()

    @property
    def pids(self) -> dict[str, int]:
        """Process id of each process that was started, by name."""
        return {child.spec.name: child.process.pid for child in self._children if child.process}

    async def start(self) -> None:
        """Start all processes and return when each is healthy.

        Raises:
            ProcessFailed: A process ended or did not become healthy in time; carries its exit code.
        """
        for child in self._children:
            await self._spawn(child)
        for child in self._children:
            await self._wait_healthy(child)

    async def watch(self) -> None:
        """Keep the processes alive until cancelled.

        Raises:
            ProcessFailed: A process died more often than the policy allows.
        """
        keepers = [asyncio.create_task(self._keep(child)) for child in self._children]
        try:
            await asyncio.gather(*keepers)
        finally:
            for keeper in keepers:
                keeper.cancel()

    async def stop_requested(self) -> None:
        """Return once ``request_stop`` was called."""
        await self._stop_requested.wait()

    def request_stop(self) -> None:
        """First call: ask for an orderly end. Later calls: kill every process at once."""
        if self._stop_requested.is_set():
            for child in self._children:
                _signal_group(child, signal.SIGKILL)
        self._stop_requested.set()

    async def stop(self) -> None:
        """End all processes, last started first; a process that does not end in its time is killed."""
        for child in reversed(self._children):
            if child.process is None:
                continue
            if child.process.returncode is None:
                child.process.send_signal(signal.SIGTERM)
                try:
                    async with asyncio.timeout(child.spec.stop_seconds):
                        await child.process.wait()
                except TimeoutError:
                    self._on_event(f"The {child.spec.name} did not end in time and was killed.")
            _signal_group(child, signal.SIGKILL)
            await child.process.wait()

    async def _spawn(self, child: _Child) -> None:
        spec = child.spec
        spec.log_path.parent.mkdir(parents=True, exist_ok=True)
        with spec.log_path.open("ab") as log:
            child.log_offset = log.tell()
            child.process = await asyncio.create_subprocess_exec(
                *spec.argv,
                env=dict(spec.environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A session of its own: Ctrl-C in the terminal reaches us alone, and we end the processes in order.
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )

    async def _wait_healthy(self, child: _Child) -> None:
        spec = child.spec
        try:
            async with asyncio.timeout(spec.start_seconds), httpx.AsyncClient(trust_env=False, timeout=2.0) as client:
                while not await _is_healthy(client, spec.health_url):
                    if child.process is None or child.process.returncode is not None:
                        raise _failed_at_start(child)
                    await asyncio.sleep(_HEALTH_INTERVAL_SECONDS)
        except TimeoutError as error:
            raise ProcessFailed(
                f"The {spec.name} was not ready after {spec.start_seconds:.0f} s; see {spec.log_path}."
            ) from error

    async def _keep(self, child: _Child) -> None:
        loop = asyncio.get_running_loop()
        policy = self._policy
        while child.process is not None:
            exit_code = await child.process.wait()
            # What the dead process left behind must not hold its port or its locks.
            _signal_group(child, signal.SIGKILL)
            now = loop.time()
            child.deaths.append(now)
            while child.deaths[0] < now - policy.window_seconds:
                child.deaths.popleft()
            if len(child.deaths) > policy.limit:
                raise ProcessFailed(
                    f"The {child.spec.name} ended {len(child.deaths)} times in a short while{_last_line(child)}; "
                    f"see {child.spec.log_path}."
                )
            delay = min(policy.base_seconds * 2 ** (len(child.deaths) - 1), policy.max_seconds)
            self._on_event(
                f"The {child.spec.name} ended with exit code {exit_code} and starts again in {delay:g} s; "
                f"see {child.spec.log_path}."
            )
            await asyncio.sleep(delay)
            await self._spawn(child)


def claim_port(host: str, port: int, *, option: str) -> int:
    """The port, once it was seen to be free; a free one for port 0.

    Raises:
        PortTaken: Another process listens there; the message names ``option`` as the way out.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise PortTaken(
                f"Port {port} on {host} cannot be used ({error.strerror}); choose another with {option}."
            ) from error
        return probe.getsockname()[1]


async def _is_healthy(client: httpx.AsyncClient, url: str) -> bool:
    try:
        response = await client.get(url)
    except httpx.HTTPError:
        return False
    return response.is_success


def _failed_at_start(child: _Child) -> ProcessFailed:
    exit_code = child.process.returncode if child.process else None
    line = _last_line(child)
    return ProcessFailed(
        f"The {child.spec.name} did not start{line}; see {child.spec.log_path}.", exit_code=exit_code or None
    )


def _last_line(child: _Child) -> str:
    """What the process said last, as an insertion for a sentence; empty when it said nothing."""
    try:
        with child.spec.log_path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(child.log_offset, end - _LOG_TAIL_BYTES))
            lines = log.read().decode("utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return f": {lines[-1].strip().rstrip('.')}" if lines else ""


def _signal_group(child: _Child, number: signal.Signals) -> None:
    if child.process is None:
        return
    try:
        os.killpg(child.process.pid, number)
    except ProcessLookupError:
        return


def _die_with_parent() -> Callable[[], None] | None:
    """Run in a child between fork and exec: the kernel kills it when this process dies, however that happens."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            # The parent died before the line above took effect.
            os._exit(1)

    return prepare
