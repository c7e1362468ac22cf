"""A short trial by kill; ``python -m evals.kill.driver --kills 200`` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings
from evals.kill.driver import Trial

KILLS = 4


@pytest.mark.integration
@pytest.mark.timeout(900)
async def test_no_kill_doubles_an_effect_or_loses_a_decision(tmp_path: Path, database_settings: Settings) -> None:
    url = database_settings.database.url
    findings = await Trial(tmp_path, database=url.get_secret_value() if url else "").run(KILLS)
    assert findings.faults == []
    assert findings.kills == KILLS
    assert findings.runs > 0
