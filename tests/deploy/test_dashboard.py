"""Every series of the dashboard is one that the API or vLLM has; a renamed metric must not leave an empty panel."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from agents.gateway.endpoint import Endpoint
from agents.gateway.gateway import ModelGateway
from agents.testing import ScriptedChatModel
from app.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "groundwork.json").read_text(encoding="utf-8"))
VLLM = {
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "vllm:prefix_cache_hits_total",
    "vllm:prefix_cache_queries_total",
}
"""Names in vLLM 0.32's own /metrics."""


def _expressions() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def _known() -> set[str]:
    metrics = Metrics()
    metrics.watch(ModelGateway([Endpoint("small", ScriptedChatModel(["x"]))], default="small"))
    names: set[str] = set()
    for family in text_string_to_metric_families(metrics.text().decode()):
        suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(family.type, [""])
        names |= {family.name + suffix for suffix in suffixes}
    return names | VLLM


def test_every_series_exists() -> None:
    named = {name for text in _expressions() for name in re.findall(r"\b(?:groundwork_|vllm:|process_)\w+", text)}

    assert named - _known() == set()
    assert len(named) > 10


def test_panels_do_not_overlap() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]

    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
