from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.testing import ScriptedChatModel
from app.client import ApiClient
from app.serve import serve_embedded
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.command_line import CommandLine, one_sentence

ROOT = Path(__file__).parents[2]

PODS = """# Restarts

## Memory

A pod restarts with the reason OOMKilled when a container uses more memory than its limit allows.
The exit code is 137. Raise the memory limit or find the leak.

## Probes

A failing liveness probe restarts the container after three failures.
"""
CALLS = "# On call\n\nThe person on call acknowledges a page within fifteen minutes.\n"
SENTENCE = "A pod restarts with the reason OOMKilled when a container uses more memory than its limit allows."
QUESTION = "Why does a pod restart with the reason OOMKilled when a container uses memory?"


@asynccontextmanager
async def small_platform(settings: Settings) -> AsyncGenerator[ApiClient]:
    model = ScriptedChatModel([f"{SENTENCE} [1]"])
    async with serve_embedded(settings, embedder=HashingEmbedder(), chat_model=model) as client:
        yield client


@asynccontextmanager
async def without_model(settings: Settings) -> AsyncGenerator[ApiClient]:
    """The chat model of the settings."""
    async with serve_embedded(settings, embedder=HashingEmbedder()) as client:
        yield client


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "pods.md").write_text(PODS, encoding="utf-8")
    (folder / "calls.md").write_text(CALLS, encoding="utf-8")
    return folder


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home", small_platform)


def test_ingest_reports_every_file_and_a_second_run_finds_them_unchanged(
    groundwork: CommandLine, handbook: Path
) -> None:
    first = groundwork("ingest", str(handbook), "--json")
    assert first.code == 0
    assert set(first.json) == {"files", "totals", "seconds"}
    assert {"source", "status", "chunks", "pages", "reason", "detail"} <= set(first.json["files"][0])
    assert first.json["totals"]["indexed"] == 2
    second = groundwork("ingest", str(handbook), "--json")
    assert (second.code, second.json["totals"]["unchanged"], second.json["totals"]["indexed"]) == (0, 2, 0)


def test_ingest_sees_relative_paths_and_quoted_globs_from_here(
    groundwork: CommandLine, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(handbook)
    report = groundwork("ingest", "p*.md", "--json").json
    assert [file["source"] for file in report["files"]] == [str(handbook / "pods.md")]


def test_dry_run_changes_nothing(groundwork: CommandLine, handbook: Path) -> None:
    outcome = groundwork("ingest", str(handbook), "--dry-run")
    assert outcome.code == 0
    assert outcome.stdout.startswith("Would be: 2 indexed")
    assert groundwork("status", "--json").json["documents"] == 0


def test_file_that_fails_is_named_with_its_reason_and_the_rest_goes_in(groundwork: CommandLine, handbook: Path) -> None:
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7\nno pages at all")
    outcome = groundwork("ingest", str(handbook))
    assert outcome.code == 3
    assert str(handbook / "broken.pdf") in outcome.stderr
    assert "2 indexed, 1 failed" in outcome.stdout
    listing = groundwork("documents", "list", "--json").json["documents"]
    assert sorted((Path(record["source"]).name, record["status"]) for record in listing) == [
        ("broken.pdf", "failed"),
        ("calls.md", "ready"),
        ("pods.md", "ready"),
    ]


def test_unreadable_file_is_named_and_the_rest_goes_in(groundwork: CommandLine, handbook: Path) -> None:
    Path(os.fsdecode(bytes(handbook) + b"/caf\xe9.md")).write_text(CALLS, encoding="utf-8")
    outcome = groundwork("ingest", str(handbook), "--json")
    assert (outcome.code, outcome.json["totals"]["indexed"]) == (3, 2)
    assert [file["reason"] for file in outcome.json["files"] if file["status"] == "failed"] == ["unreadable"]


def test_missing_path_among_others_is_exit_code_3(groundwork: CommandLine, handbook: Path) -> None:
    outcome = groundwork("ingest", str(handbook), str(handbook / "none.md"), "--json")
    assert outcome.code == 3
    assert [file["reason"] for file in outcome.json["files"] if file["status"] == "failed"] == ["not_found"]


def test_nothing_at_the_paths_is_exit_code_2(groundwork: CommandLine, tmp_path: Path) -> None:
    outcome = groundwork("ingest", str(tmp_path / "none"))
    assert outcome.code == 2
    assert "not_found" in outcome.stderr


def test_prune_removes_what_is_gone(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook))
    (handbook / "calls.md").unlink()
    report = groundwork("ingest", str(handbook), "--prune", "--json").json
    assert (report["totals"]["deleted"], report["totals"]["unchanged"]) == (1, 1)


def test_status_counts_and_agrees(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook), "--collection", "handbook")
    outcome = groundwork("status", "--json")
    status = outcome.json
    assert outcome.code == 0
    assert status["consistent"] is True
    assert status["chunks"] == status["points"] > 0
    assert [(info["name"], info["documents"]) for info in status["collections"]] == [("handbook", 2)]
    assert "Ledger and store agree." in groundwork("status").stdout


def test_search_finds_the_passage_with_the_scores_of_both_legs(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook))
    found = groundwork("search", "OOMKilled memory limit", "--limit", "1", "--json").json
    assert {"query", "hits", "timings_ms"} <= set(found)
    (hit,) = found["hits"]
    assert hit["source"] == str(handbook / "pods.md")
    assert {"dense", "dense_rank", "bm25", "bm25_rank", "fused", "rerank"} == set(hit["scores"])
    assert hit["scores"]["bm25_rank"] == 1
    explained = groundwork("search", "OOMKilled memory limit", "--explain").stdout
    assert "words       1" in explained
    assert "at rank 1" in explained


def test_search_in_an_unknown_collection_is_one_sentence_and_exit_code_2(
    groundwork: CommandLine, handbook: Path
) -> None:
    groundwork("ingest", str(handbook))
    outcome = groundwork("search", "pods", "--collection", "cooking")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr)
    assert "'cooking'" in outcome.stderr


def test_document_is_shown_by_its_text_and_its_chunks(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook / "pods.md"))
    (record,) = groundwork("documents", "list", "--json").json["documents"]
    text = groundwork("documents", "show", record["document_id"], "--text").stdout
    assert SENTENCE in text
    chunks = groundwork("documents", "show", record["document_id"], "--chunks", "--json").json["chunks"]
    assert [text[chunk["char_start"] : chunk["char_end"]] for chunk in chunks] == [chunk["text"] for chunk in chunks]
    assert record["title"] in groundwork("documents", "show", record["document_id"]).stdout
    assert record["source"] in groundwork("documents", "list").stdout


def test_deleted_document_leaves_no_chunk(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook / "pods.md"))
    (record,) = groundwork("documents", "list", "--json").json["documents"]
    receipt = groundwork("documents", "delete", record["document_id"], "--json").json
    assert (receipt["source"], receipt["chunks_left"]) == (record["source"], 0)
    assert groundwork("status", "--json").json["points"] == 0


def test_unknown_document_is_one_sentence_and_exit_code_2(groundwork: CommandLine) -> None:
    outcome = groundwork("documents", "show", "0" * 32)
    assert outcome.code == 2
    assert one_sentence(outcome.stderr)


def test_ask_answers_with_claims_and_citations_that_are_stored_text(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook))
    outcome = groundwork("ask", QUESTION, "--json")
    answer = outcome.json
    assert (outcome.code, answer["status"]) == (0, "answered")
    assert {"claims", "citations", "context", "usage", "timings_ms", "tokens_per_second", "run_id"} <= set(answer)
    assert [claim["verdict"] for claim in answer["claims"]] == ["verified"]
    for citation in answer["citations"]:
        text = groundwork("documents", "show", citation["document_id"], "--text").stdout
        assert text[citation["char_start"] : citation["char_end"]] == citation["quote"]


def test_ask_prints_claims_with_marks_and_the_quoted_passages(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook))
    outcome = groundwork("ask", QUESTION)
    assert outcome.code == 0
    assert f"✓ {SENTENCE} [1]" in outcome.stdout
    assert str(handbook / "pods.md") in outcome.stdout
    assert "answered in" in outcome.stderr


def test_ask_goes_on_in_a_thread(groundwork: CommandLine, handbook: Path) -> None:
    groundwork("ingest", str(handbook))
    first = groundwork("ask", QUESTION, "--json").json
    second = groundwork("ask", QUESTION, "--thread", first["thread_id"], "--json").json
    assert second["thread_id"] == first["thread_id"]
    assert groundwork("ask", QUESTION, "--thread", "0" * 32).code == 2


def test_ask_without_documents_abstains_with_exit_code_0(groundwork: CommandLine) -> None:
    outcome = groundwork("ask", "Who won the cup?", "--json")
    assert (outcome.code, outcome.json["status"], outcome.json["citations"]) == (0, "abstained", [])


def test_ask_with_a_model_that_is_down_fails_with_exit_code_4_and_search_still_works(
    tmp_path: Path, handbook: Path
) -> None:
    config = tmp_path / "groundwork.toml"
    config.write_text('[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "none"\n', encoding="utf-8")
    groundwork = CommandLine(tmp_path / "home", without_model, ("--config", str(config)))
    groundwork("ingest", str(handbook))
    plain = groundwork("ask", QUESTION)
    assert (plain.code, plain.stdout) == (4, "")
    assert one_sentence(plain.stderr), plain.stderr
    as_json = groundwork("ask", QUESTION, "--json")
    assert (as_json.code, as_json.json["status"]) == (4, "failed")
    assert groundwork("search", "OOMKilled").code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[tuple[Path, list[str]]]:
    """A folder without room, and the words before a command that make it so where nobody may mount a disk."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield folder, ["bash", "-c", 'ulimit -f 1024; exec "$@"', "bash"]
        return
    yield folder, []
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_one_sentence_and_exit_code_4(small_disk: tuple[Path, list[str]], handbook: Path) -> None:
    # In a process of its own: the engine maps its files, and a write to a full disk through a map is a fatal signal.
    folder, limited = small_disk
    code = (
        "import sys; from app.cli.main import run; from tests.app.test_cli_documents import small_platform;"
        "sys.exit(run(sys.argv[1:], connect=small_platform))"
    )
    command = [*limited, sys.executable, "-c", code, "--home", str(folder / "home"), "ingest", str(handbook)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 4, outcome.stderr
    assert one_sentence(outcome.stderr.splitlines(keepends=True)[-1])


def test_doctor_names_what_is_missing_and_what_to_do(groundwork: CommandLine) -> None:
    outcome = groundwork("doctor", "--json")
    assert (outcome.code, outcome.json["healthy"]) == (4, False)
    failed = {check["name"]: check["remedy"] for check in outcome.json["checks"] if check["state"] == "failed"}
    assert set(failed) == {"chat model", "embedding model"}
    assert all("groundwork models pull" in remedy for remedy in failed.values())


def test_json_of_models_names_state_and_place(groundwork: CommandLine) -> None:
    listing = json.loads(groundwork("models", "list", "--json").stdout)["models"]
    assert {(model["kind"], model["state"], model["used"]) for model in listing} == {
        ("chat", "missing", True),
        ("embedding", "missing", True),
    }
