"""The embedded model server works on nothing any more once a run is stopped, or a client has gone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evals.engine.chats import open_client
from evals.engine.servers import open_engine
from evals.engine_cancel import MAX_TOKENS, measure

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
WRITTEN = "llamacpp:tokens_predicted_total"


async def test_stop_closed_connection_and_killed_client_end_the_work_of_llama_cpp(
    model_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_engine("llama.cpp", model_home) as engine, open_client(engine.headers) as http:
        before = (await engine.series(http))[WRITTEN]
        figures = await measure(engine, model_home, samples=1, say=lambda _: None)
        written = (await engine.series(http))[WRITTEN] - before
    with capsys.disabled():
        sys.stdout.write(f"seconds until the engine worked on nothing: {figures}\n")
    # Of six replies that were left, any single one would have gone on to its limit.
    assert written < MAX_TOKENS
