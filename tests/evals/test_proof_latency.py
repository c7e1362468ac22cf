from __future__ import annotations

from evals.proof_latency import measure_latency
from tests.agents.passages import CONFIG_MAP, JOB, OOM


def test_time_is_told_apart_for_passages_and_claims() -> None:
    latency = measure_latency({"a.md": CONFIG_MAP, "b.md": OOM, "c.md": JOB}, answers=2)
    assert latency.answers in (1, 2)
    assert latency.read_passages.p95 >= latency.read_passages.p50 >= 0
    assert latency.judge_claims.p95 >= latency.judge_claims.p50 > 0
