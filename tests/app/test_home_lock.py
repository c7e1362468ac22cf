from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import HomeLocked, HomeUnwritable
from app.home import Home
from app.home_lock import ApiAddress, announced_api, lock_home, running_api
from tests.conftest import ROOT

_OWNER = """
import asyncio, sys
from pathlib import Path
from app.home import Home
from app.home_lock import lock_home

async def own() -> None:
    async with lock_home(Home(Path(sys.argv[1]))):
        print("owned", flush=True)
        sys.stdin.read()

asyncio.run(own())
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


async def test_second_process_is_refused_with_the_owner_named(home: Home) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OWNER, str(home.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert owner.stdout is not None
        assert await owner.stdout.readline() == b"owned\n"
        with pytest.raises(HomeLocked, match=f"process {owner.pid}"):
            async with lock_home(home):
                pass
    finally:
        owner.kill()
        await owner.wait()
    async with lock_home(home):
        pass


async def test_refusal_names_the_address_of_the_owners_api(home: Home) -> None:
    address = ApiAddress(url="http://127.0.0.1:8080", pid=os.getpid(), token="secret")
    async with lock_home(home):
        with announced_api(home, address), pytest.raises(HomeLocked, match=r"http://127\.0\.0\.1:8080") as refusal:
            async with lock_home(home):
                pass
    assert "secret" not in str(refusal.value)


async def test_running_api_is_found_and_readable_by_its_user_alone(home: Home) -> None:
    address = ApiAddress(url="http://127.0.0.1:8080", pid=os.getpid(), token="secret")
    async with lock_home(home):
        with announced_api(home, address):
            assert running_api(home) == address
            assert home.api_file.stat().st_mode & 0o777 == 0o600
        assert running_api(home) is None
        assert not home.api_file.exists()


async def test_file_of_a_killed_api_is_ignored(home: Home) -> None:
    async with lock_home(home):
        pass
    stale = ApiAddress(url="http://127.0.0.1:8080", pid=os.getpid(), token="secret")
    home.api_file.write_text(stale.model_dump_json(), encoding="utf-8")
    assert running_api(home) is None


async def test_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(HomeUnwritable, match="GROUNDWORK_HOME"):
        async with lock_home(Home(tmp_path / "file" / "home")):
            pass
