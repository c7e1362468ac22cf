from __future__ import annotations

from collections.abc import Generator

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.harness import MAIN, SECONDS, Start
from tests.ui.servers import serve
from tests.ui.stub_api import StubState, build_stub
from ui.client import ApiClient


@pytest.fixture
def state() -> StubState:
    """What the stand-in API holds; a test may look into it and change it."""
    return StubState()


@pytest.fixture
def api_url(state: StubState) -> Generator[str]:
    """Address of the stand-in API."""
    with serve(build_stub(state)) as served:
        yield served.address


@pytest.fixture
def client(api_url: str) -> Generator[ApiClient]:
    with ApiClient(api_url) as opened:
        yield opened


@pytest.fixture
def start(api_url: str, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Opens the chat UI over the stand-in API; each call is a session of its own."""
    monkeypatch.setenv("GROUNDWORK_API_URL", api_url)
    return lambda: AppTest.from_file(str(MAIN), default_timeout=SECONDS)
