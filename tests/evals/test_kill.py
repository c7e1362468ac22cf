"""A short trial by kill, and two APIs on one database; ``python -m evals.kill.driver --kills 200`` is the long one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import Settings
from evals.kill.driver import Trial

KILLS = 4
WAIT_SECONDS = 120


@pytest.mark.integration
@pytest.mark.timeout(900)
async def test_no_kill_doubles_an_effect_or_loses_a_decision(tmp_path: Path, database_settings: Settings) -> None:
    url = database_settings.database.url
    findings = await Trial(tmp_path / "trial", database=url.get_secret_value() if url else "").run(KILLS)
    assert findings.faults == []
    assert findings.kills == KILLS
    assert findings.runs > 0


async def _until(http: httpx.AsyncClient, run_id: str, *states: str) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            run: dict[str, Any] = (await http.get(f"/api/runs/{run_id}")).json()
            if run["state"] in states:
                return run
            await asyncio.sleep(0.05)


@pytest.mark.integration
@pytest.mark.timeout(600)
async def test_what_one_api_proposed_is_approved_on_another_and_happens_once(tmp_path: Path, postgres_url: str) -> None:
    trial = Trial(tmp_path, database=postgres_url)
    trial.prepare("one")
    trial.prepare("two")
    async with trial.model_server(), trial.api("one") as one, trial.api("two") as two:
        thread = (await one.post("/api/threads", json={})).json()["thread_id"]
        body = {"question": "Press button-00ff.", "agent": "operator"}
        run_id = (await one.post(f"/api/threads/{thread}/runs", json=body)).json()["run_id"]
        await _until(two, run_id, "waiting")
        (card,) = (await two.get("/api/approvals")).json()["approvals"]
        decision = {"decision": "approve", "seen_hash": card["arguments_hash"]}
        path = f"/api/approvals/{card['call_id']}/decision"
        clicks = await asyncio.gather(*(http.post(path, json=decision) for http in (two, one, two, one)))
        assert sorted(click.status_code for click in clicks) == [200, 409, 409, 409]
        ended = await _until(one, run_id, "answered", "abstained", "failed")
        assert (await _until(two, run_id, "answered", "abstained", "failed")) == ended
        assert ended["state"] == "answered"
        assert trial.pressed() == {"button-00ff": 1}
        seen = [(await http.get(f"/api/runs/{run_id}/events")).text for http in (one, two)]
        assert seen[0] == seen[1]
        assert seen[0].count("event: run_finished") == 1
