from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Generator

import pytest

from app.client import ApiClient
from app.errors import HomeLocked, PortTaken
from app.home_lock import ApiAddress, running_api
from app.schema import RunRequest, ThreadCreate
from app.serve import listen, serve, serve_embedded
from app.settings import ServerSettings, Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.conftest import ROOT
from tests.fakes import GatedChatModel

_SERVER = """
import sys
from pathlib import Path
from app.serve import serve
from app.settings import ServerSettings, Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel

settings = Settings(home_path=Path(sys.argv[1]), server=ServerSettings(port=0))
serve(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes it is."))
"""


@pytest.fixture
def server(settings: Settings) -> Generator[subprocess.Popen[str]]:
    """A process that serves the home."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(settings.home_path)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_server_announces_itself_and_leaves_in_order(
    settings: Settings, server: subprocess.Popen[str], number: signal.Signals
) -> None:
    address = await _announced(settings, server)
    assert address.pid == server.pid
    async with ApiClient(address.url, token=address.token) as client:
        assert (await client.readiness()).ready
        with pytest.raises(HomeLocked, match=address.url):
            async with serve_embedded(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")):
                pass
        thread = await client.create_thread(ThreadCreate())
        run = await client.start_run(thread.thread_id, RunRequest(question="Is it?"))
        events = [event async for event in client.events(run.run_id)]
        assert events[-1].type == "run_finished"
    server.send_signal(number)
    assert await asyncio.to_thread(server.wait, 30) == 0
    assert not settings.home.api_file.exists()
    assert server.stderr is not None
    assert "Traceback" not in server.stderr.read()


async def test_home_of_a_killed_server_opens_again(settings: Settings, server: subprocess.Popen[str]) -> None:
    await _announced(settings, server)
    server.kill()
    await asyncio.to_thread(server.wait, 30)
    assert settings.home.api_file.exists()
    assert running_api(settings.home) is None
    async with serve_embedded(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")) as client:
        assert (await client.status()).consistent


def test_taken_port_is_one_sentence(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=str(port)):
            serve(settings.model_copy(update={"server": ServerSettings(port=port)}))


async def test_small_events_are_sent_without_waiting_for_acknowledgements() -> None:
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(answer, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await accepted == 1
        writer.close()


async def test_embedded_socket_is_private_and_gone_afterwards(settings: Settings) -> None:
    async with serve_embedded(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")) as client:
        assert (await client.status()).documents == 0
        assert not settings.home.api_file.exists()
        assert client.uds is not None
        folder = client.uds.parent
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


async def _announced(settings: Settings, server: subprocess.Popen[str]) -> ApiAddress:
    async with asyncio.timeout(60):
        while (address := running_api(settings.home)) is None:
            assert server.poll() is None, "the server ended"
            await asyncio.sleep(0.05)
    return address
