from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents.errors import ModelUnavailable
from agents.settings import ModelSettings
from app.model_process import ServeRequest, server_params
from app.model_server import BackOff, EmbeddedModelServer, physical_cores

ROOT = Path(__file__).parents[2]
CHILD = """
import json, os, signal
from app import model_process

def serve(request, answers):
    print("native noise on stdout", flush=True)
    answers.write(json.dumps({"base_url": f"http://127.0.0.1:1/{request.context_tokens}/{os.getpid()}/v1"}) + "\\n")
    answers.flush()
    while True:
        signal.pause()

model_process.serve = serve
model_process.main()
"""
"""The real child process without a model."""

PARENT = """
import asyncio, sys
from pathlib import Path
from agents.settings import ModelSettings
from app.model_server import EmbeddedModelServer

async def main():
    command = (sys.executable, "-c", sys.argv[2])
    server = EmbeddedModelServer(Path("m.gguf"), ModelSettings(), Path(sys.argv[1]), command=command)
    await server.start()
    await server.base_url()
    print(server.process_id, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""

OpenServer = Callable[..., EmbeddedModelServer]


@pytest.fixture
async def open_server(tmp_path: Path) -> AsyncGenerator[OpenServer]:
    servers: list[EmbeddedModelServer] = []

    def opened(code: str = CHILD, back_off: BackOff | None = None) -> EmbeddedModelServer:
        server = EmbeddedModelServer(
            tmp_path / "model.gguf",
            ModelSettings(context_tokens=2048),
            tmp_path / "logs" / "model.log",
            back_off=back_off or BackOff(first_seconds=0.01, longest_seconds=0.02),
            command=(sys.executable, "-c", code),
        )
        servers.append(server)
        return server

    yield opened
    for server in servers:
        await server.stop()


def wait_until_gone(process_id: int) -> bool:
    """Whether the process ends within 20 s."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 20)[0])
    finally:
        os.close(descriptor)


async def test_address_is_given_when_the_model_is_loaded(open_server: OpenServer, tmp_path: Path) -> None:
    server = open_server()
    assert server.state.status == "stopped"

    await server.start()
    assert server.state.status == "starting"

    assert await server.base_url() == f"http://127.0.0.1:1/2048/{server.process_id}/v1"
    assert server.state.status == "ready"
    assert "native noise" in (tmp_path / "logs" / "model.log").read_text(encoding="utf-8")


async def test_stopped_server_leaves_no_process(open_server: OpenServer) -> None:
    server = open_server()
    await server.start()
    await server.base_url()
    process_id = server.process_id
    assert process_id

    await server.stop()

    assert server.state.status == "stopped"
    assert server.process_id is None
    assert not Path(f"/proc/{process_id}").exists()
    with pytest.raises(ModelUnavailable):
        await server.base_url()


async def test_server_that_dies_is_started_again(open_server: OpenServer) -> None:
    server = open_server()
    await server.start()
    first_url, first_id = await server.base_url(), server.process_id
    assert first_id

    os.kill(first_id, signal.SIGKILL)
    assert (await server.next_state()).status == "starting"

    assert await server.base_url() != first_url
    assert server.process_id != first_id


async def test_server_that_cannot_load_says_where_to_look(open_server: OpenServer) -> None:
    server = open_server("import sys; sys.exit(3)", BackOff(first_seconds=60))
    await server.start()

    with pytest.raises(ModelUnavailable, match=r"status 3.*model\.log"):
        await server.base_url()
    assert server.state.status == "failed"


async def test_server_that_answers_nonsense_has_failed(open_server: OpenServer) -> None:
    server = open_server("print('hello', flush=True)", BackOff(first_seconds=60))
    await server.start()

    with pytest.raises(ModelUnavailable, match="while it was starting"):
        await server.base_url()


async def test_ctrl_c_in_a_terminal_does_not_reach_the_child(open_server: OpenServer) -> None:
    server = open_server()
    await server.start()
    await server.base_url()
    assert server.process_id

    assert os.getsid(server.process_id) != os.getsid(0)


def test_child_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "model.log"), CHILD], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout
        child_id = int(parent.stdout.readline())
        parent.kill()

    assert wait_until_gone(child_id)


def test_child_ends_when_its_input_ends(tmp_path: Path) -> None:
    request = (
        f'{{"model_path": "m", "name": "m", "api_key": "k", "context_tokens": 1, "parallel": 1, "threads": 1,'
        f' "parent_id": {os.getpid()}}}\n'
    )
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(request)
        child.stdin.flush()
        assert "base_url" in child.stdout.readline()
        child.stdin.close()

        assert child.wait(20) == 0


def test_pauses_double_up_to_the_longest() -> None:
    back_off = BackOff(first_seconds=0.5, longest_seconds=3)

    assert [back_off.pause_seconds(failures) for failures in (1, 2, 3, 4, 9)] == [0.5, 1, 2, 3, 3]


def test_cores_are_at_least_one() -> None:
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("batch_tokens", "parallel", "step"),
    [(8, 1, (8, 4)), (8, 12, (12, 4)), (16, 1, (16, 16)), (512, 4, (512, 512))],
)
def test_step_holds_a_token_of_every_request_and_is_cut_small_where_it_is_short(
    batch_tokens: int, parallel: int, step: tuple[int, int]
) -> None:
    fields = SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())
    request = ServeRequest("model.gguf", "m", "key", 4096, parallel, 2, 1, batch_tokens)
    params = server_params(SimpleNamespace(CommonParams=lambda: fields), request)
    assert (params.n_batch, params.n_ubatch) == step
