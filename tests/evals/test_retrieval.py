from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.errors import DatasetUnreadable
from evals.retrieval import EvaluationProgress, RetrievalReport, run_retrieval_eval
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.settings import SearchSettings
from tests.evals.tiny import write_dataset


def test_a_data_set_is_indexed_searched_and_scored(tmp_path: Path) -> None:
    seen: list[EvaluationProgress] = []
    report = run_retrieval_eval(
        write_dataset(tmp_path / "tiny"),
        embedder=HashingEmbedder(),
        settings=SearchSettings(),
        on_progress=seen.append,
    )
    assert (report.dataset, report.queries, report.config.documents) == ("tiny", 2, 4)
    assert (report.recall_at_10, report.mrr_at_10) == (0.75, 1.0)
    assert 0 < report.latency_ms.p50 <= report.latency_ms.p95
    assert seen == [("index", 4, 4), ("search", 1, 2), ("search", 2, 2)]


def test_the_report_has_the_promised_json_names(tmp_path: Path) -> None:
    report = run_retrieval_eval(write_dataset(tmp_path), embedder=HashingEmbedder(), settings=SearchSettings())
    parsed = json.loads(report.model_dump_json())
    figures = {"ndcg@10", "recall@10", "recall@100", "mrr@10", "map", "latency_ms"}
    assert parsed.keys() == figures | {"dataset", "queries", "config", "cases"}
    assert parsed["latency_ms"].keys() == {"p50", "p95"}
    assert parsed["config"]["search"]["fusion"] == SearchSettings().fusion
    assert RetrievalReport.model_validate(parsed) == report


def test_two_runs_give_the_same_figures(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path)
    first, second = (
        run_retrieval_eval(folder, embedder=HashingEmbedder(), settings=SearchSettings()) for _ in range(2)
    )
    assert first.model_copy(update={"latency_ms": second.latency_ms}) == second


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetUnreadable, match="is missing"):
        run_retrieval_eval(tmp_path, embedder=HashingEmbedder(), settings=SearchSettings())
