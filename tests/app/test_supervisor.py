from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.errors import PortTaken, ProcessFailed
from app.supervisor import ProcessSpec, RestartPolicy, Supervisor, claim_port

SERVER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def log_message(self, *args):
        pass
print("serving", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + SERVER.replace("\nimport", "import", 1)
QUICK = RestartPolicy(base_seconds=0.001, limit=2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def server(folder: Path, name: str = "API", code: str = SERVER, **limits: float) -> ProcessSpec:
    port = free_port()
    return ProcessSpec(
        name=name,
        argv=(sys.executable, "-S", "-c", code, str(port)),
        environ=dict(os.environ),
        log_path=folder / f"{name}.log",
        health_url=f"http://127.0.0.1:{port}/healthz",
        **limits,
    )


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - a process outside this loop has no event to wait for
            await asyncio.sleep(0.01)


@asynccontextmanager
async def watching(supervisor: Supervisor) -> AsyncGenerator[asyncio.Task[None]]:
    await supervisor.start()
    watch = asyncio.create_task(supervisor.watch())
    try:
        yield watch
    finally:
        watch.cancel()
        await supervisor.stop()


async def test_started_processes_are_healthy_and_stop_leaves_none(tmp_path: Path) -> None:
    supervisor = Supervisor([server(tmp_path, "API"), server(tmp_path, "UI")])
    async with watching(supervisor):
        pids = supervisor.pids
        assert list(pids) == ["API", "UI"]
        assert all(is_alive(pid) for pid in pids.values())
    assert not any(is_alive(pid) for pid in pids.values())


async def test_dead_process_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor([server(tmp_path)], policy=QUICK, on_event=said.append)
    async with watching(supervisor):
        first = supervisor.pids["API"]
        os.kill(first, signal.SIGKILL)
        await until(lambda: supervisor.pids["API"] != first)
        assert is_alive(supervisor.pids["API"])
    assert said == [
        f"The API ended with exit code -9 and starts again in 0.001 s; see {tmp_path / 'API.log'}.",
    ]


async def test_process_that_keeps_dying_ends_the_watch_with_its_last_words(tmp_path: Path) -> None:
    once = server(tmp_path)
    flag = tmp_path / "died"
    code = f"import pathlib, sys\nif pathlib.Path({str(flag)!r}).exists(): sys.exit('no more disk')\n{SERVER}"
    spec = ProcessSpec(once.name, (*once.argv[:3], code, once.argv[4]), once.environ, once.log_path, once.health_url)
    supervisor = Supervisor([spec], policy=QUICK, on_event=lambda _: None)
    async with watching(supervisor) as watch:
        flag.touch()
        os.kill(supervisor.pids["API"], signal.SIGKILL)
        with pytest.raises(ProcessFailed, match=r"The API ended 3 times in a short while: no more disk; see "):
            await watch


async def test_process_that_does_not_start_fails_with_its_sentence_and_exit_code(tmp_path: Path) -> None:
    code = "import sys; print('Another process has this home open.', file=sys.stderr); sys.exit(4)"
    supervisor = Supervisor([server(tmp_path, code=code)])
    with pytest.raises(ProcessFailed, match=r"did not start: Another process has this home open; see ") as caught:
        await supervisor.start()
    await supervisor.stop()
    assert caught.value.exit_code == 4


async def test_process_that_is_never_healthy_fails_after_its_time(tmp_path: Path) -> None:
    supervisor = Supervisor([server(tmp_path, code="import time; time.sleep(600)", start_seconds=0.2)])
    with pytest.raises(ProcessFailed, match=r"was not ready after 0 s"):
        await supervisor.start()
    pid = supervisor.pids["API"]
    await supervisor.stop()
    assert not is_alive(pid)


async def test_process_that_ignores_the_stop_is_killed(tmp_path: Path) -> None:
    supervisor = Supervisor([server(tmp_path, code=DEAF, stop_seconds=0.2)], on_event=lambda _: None)
    async with watching(supervisor):
        pid = supervisor.pids["API"]
    assert not is_alive(pid)


async def test_second_stop_request_kills_at_once(tmp_path: Path) -> None:
    supervisor = Supervisor([server(tmp_path, code=DEAF, stop_seconds=600)], policy=QUICK)
    await supervisor.start()
    pid = supervisor.pids["API"]
    supervisor.request_stop()
    await supervisor.stop_requested()
    stop = asyncio.create_task(supervisor.stop())
    await asyncio.sleep(0)
    supervisor.request_stop()
    await stop
    assert not is_alive(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal exists on Linux alone")
async def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    spec = server(tmp_path)
    parent_code = f"""
import asyncio, os, pathlib
from app.supervisor import ProcessSpec, Supervisor
async def main():
    supervisor = Supervisor([ProcessSpec({spec.name!r}, {spec.argv!r}, dict(os.environ),
        pathlib.Path({str(spec.log_path)!r}), {spec.health_url!r})])
    await supervisor.start()
    print(supervisor.pids["API"], flush=True)
    await supervisor.watch()
asyncio.run(main())
"""
    root = Path(__file__).parents[2]
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", parent_code, cwd=root, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    assert is_alive(child)
    parent.kill()
    await parent.wait()
    await until(lambda: not is_alive(child))


def test_taken_port_is_refused_with_the_option_that_helps() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"Port {port} on 127.0.0.1 cannot be used .*--ui-port"):
            claim_port("127.0.0.1", port, option="--ui-port")


def test_free_port_is_taken_as_it_is_and_zero_becomes_a_free_one() -> None:
    port = claim_port("127.0.0.1", 0, option="--port")
    assert port > 0
    assert claim_port("127.0.0.1", port, option="--port") == port
