from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.connection import connect
from tests.app.command_line import CommandLine, one_sentence

pytestmark = pytest.mark.model

SAMPLES = Path(__file__).parents[2] / "samples"

DOCUMENTS = {
    "d1": "A container that uses more memory than its limit is killed and its state is OOMKilled.",
    "d2": "The person on call acknowledges a page within fifteen minutes.",
    "d3": "A failing readiness probe takes the pod out of the endpoints of its service.",
}


@pytest.fixture
def groundwork(tmp_path: Path, model_home: Path) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    (home / "models").symlink_to(model_home / "models", target_is_directory=True)
    return CommandLine(home, connect)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "pods"
    (folder / "qrels").mkdir(parents=True)
    corpus = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in DOCUMENTS.items()]
    queries = [
        json.dumps({"_id": "q1", "text": "why was my container OOMKilled"}),
        json.dumps({"_id": "q2", "text": "how fast must a page be acknowledged"}),
    ]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n", encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
    judgements = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"
    (folder / "qrels" / "test.tsv").write_text(judgements, encoding="utf-8")
    return folder


def test_figures_of_a_data_set_have_the_names_of_the_contract(groundwork: CommandLine, dataset: Path) -> None:
    outcome = groundwork("eval", "retrieval", "--dataset", str(dataset), "--json")
    figures = outcome.json
    assert outcome.code == 0
    assert set(figures) == {
        "dataset", "queries", "ndcg@10", "recall@10", "recall@100", "mrr@10", "map", "latency_ms", "config",
        "cases",
    }  # fmt: skip
    assert (figures["dataset"], figures["queries"], figures["ndcg@10"]) == ("pods", 2, 1.0)
    assert set(figures["latency_ms"]) == {"p50", "p95"}


def test_measuring_leaves_the_home_without_documents(groundwork: CommandLine, dataset: Path) -> None:
    assert "nDCG@10     1.0000" in groundwork("eval", "retrieval", "--dataset", str(dataset)).stdout
    assert groundwork("status", "--json").json["documents"] == 0


def test_folder_that_is_no_data_set_is_one_sentence_and_exit_code_2(groundwork: CommandLine, tmp_path: Path) -> None:
    outcome = groundwork("eval", "retrieval", "--dataset", str(tmp_path))
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr)


def test_the_gate_holds_and_a_search_that_was_made_worse_breaks_it(groundwork: CommandLine) -> None:
    place = ("--questions", str(SAMPLES / "questions.jsonl"), "--documents", str(SAMPLES / "handbook"))
    held = groundwork("eval", "gate", *place)
    assert (held.code, "BREACH" in held.stdout) == (0, False)
    broken = groundwork("eval", "gate", *place, "--set", "search.dense_weight=1", "--set", "search.candidates=1")
    assert broken.code == 1
    assert "BREACH" in broken.stdout
    assert groundwork("status", "--json").json["documents"] == 0


def test_two_configurations_are_compared_in_one_command(groundwork: CommandLine, dataset: Path, tmp_path: Path) -> None:
    command = ("eval", "retrieval", "--dataset", str(dataset), "--against", "search.fusion=rrf", "--json")
    outcome = groundwork(*command, "--report", str(tmp_path / "report"))
    assert outcome.json["names"] == ["as it is", "search.fusion=rrf"]
    assert {measure["measure"] for measure in outcome.json["measures"]} >= {"ndcg@10", "recall@100"}
    assert all(measure["p_value"] == 1.0 for measure in outcome.json["measures"])
    assert (tmp_path / "report" / "report.html").is_file()


def test_two_reports_are_compared_and_what_is_none_is_refused(
    groundwork: CommandLine, dataset: Path, tmp_path: Path
) -> None:
    report = tmp_path / "a.json"
    report.write_text(groundwork("eval", "retrieval", "--dataset", str(dataset), "--json").stdout, encoding="utf-8")
    assert groundwork("eval", "compare", str(report), str(report), "--json").json["questions"] == 2
    refused = groundwork("eval", "compare", str(report), str(tmp_path / "missing.json"))
    assert (refused.code, one_sentence(refused.stderr)) == (2, True)
