"""Receipts of real runs: over HTTP, on the command line, against the store of the home that gave the answer."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from pydantic import SecretStr

from agents.settings import ModelSettings
from app.receipts import signing
from app.receipts.check_file import check_against_store
from app.receipts.public_settings import public_settings
from app.receipts.schema import Receipt
from app.schema import RunInfo, RunRequest, ThreadCreate
from ingestion.sources import Source
from tests.app.conftest import HANDBOOK, Served
from tests.app.test_runs_api import QUESTION
from tests.fakes import GatedChatModel


async def answer(served: Served, handbook: Path, request: RunRequest = QUESTION) -> RunInfo:
    api = served.api
    await served.platform.ingester.ingest([Source.file(handbook)], collection="default")
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, request)
    async for _ in api.events(run.run_id):
        pass
    return await api.run(run.run_id)


def written(receipt: Receipt, folder: Path) -> Path:
    file = folder / "answer.receipt.json"
    file.write_text(receipt.model_dump_json(), encoding="utf-8")
    return file


async def test_a_receipt_of_a_run_holds_against_its_store(served: Served, handbook: Path, tmp_path: Path) -> None:
    run = await answer(served, handbook)
    receipt = await served.api.receipt(run.run_id)
    assert run.answer is not None
    assert (receipt.answer.text, receipt.claims) == (run.answer.answer, run.answer.claims)
    assert receipt.making is not None
    assert receipt.question.history_messages == 0
    assert receipt.documents[0].content_sha256
    home_key = signing.public_key(served.platform.home.receipt_key)
    report = await check_against_store(served.api, written(receipt, tmp_path), home_key=home_key)
    assert (report.state, report.findings) == ("holds", ())
    assert [entry.state for entry in report.sentences] == ["holds"]
    assert report.signature.holder == "this_home"
    assert served.platform.home.receipt_key.stat().st_mode & 0o777 == 0o600


async def test_a_receipt_says_all_of_how_its_answer_was_drawn(served: Served, handbook: Path) -> None:
    drawn = {"temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.1, "seed": 7, "stop": ["END"], "max_tokens": 99}
    run = await answer(served, handbook, QUESTION.model_copy(update={**drawn, "stop": ("END",)}))
    making = (await served.api.receipt(run.run_id)).making
    assert making is not None
    assert making.settings["sampling"] == drawn


async def test_the_record_of_a_proof_stays_in_the_log(served: Served, handbook: Path) -> None:
    run = await answer(served, handbook)
    kept = [event async for event in await served.platform.runs.follow(run.run_id) if event.type == "claims_checked"]
    shown = [event async for event in served.api.events(run.run_id) if event.type == "claims_checked"]
    assert [event.record is not None for event in kept] == [True]
    assert [event.record for event in shown] == [None]
    assert shown[0].claims == kept[0].claims


async def test_a_document_that_changed_or_went_is_said_of_its_sentence(
    served: Served, handbook: Path, tmp_path: Path
) -> None:
    run = await answer(served, handbook)
    # Changed before anybody asks for the receipt: what is sealed is what was read.
    handbook.write_text(HANDBOOK.replace("exit code 137", "exit code 9"), encoding="utf-8")
    await served.platform.ingester.ingest([Source.file(handbook)], collection="default")
    file = written(await served.api.receipt(run.run_id), tmp_path)
    changed = await check_against_store(served.api, file, home_key=None)
    assert (changed.state, changed.documents[0].state) == ("changed", "changed")
    assert {finding.code for finding in changed.sentences[0].findings} == {"quote_gone"}
    [document] = (await served.api.documents()).documents
    await served.api.delete_document(document.document_id)
    await served.api.delete_thread(run.thread_id)
    gone = await check_against_store(served.api, file, home_key=None)
    assert {finding.code for finding in gone.sentences[0].findings} == {"document_gone"}
    assert {finding.code for finding in gone.findings} == {"log_gone"}


async def test_a_key_that_is_asked_for_must_have_signed(served: Served, handbook: Path, tmp_path: Path) -> None:
    run = await answer(served, handbook)
    receipt = await served.api.receipt(run.run_id)
    file = written(receipt, tmp_path)
    key = receipt.signature.public_key
    assert (await check_against_store(served.api, file, home_key=None, key=key)).state == "holds"
    other = await check_against_store(served.api, file, home_key=None, key="0" * 64)
    assert (other.state, [finding.code for finding in other.findings]) == ("altered", ["other_key"])


async def test_a_run_without_an_answer_has_no_receipt(http: httpx.AsyncClient, chat_model: GatedChatModel) -> None:
    refused = await http.get("/api/runs/none/receipt")
    assert (refused.status_code, refused.json()["code"]) == (404, "run_unknown")
    thread = (await http.post("/api/threads", json={})).json()["thread_id"]
    started = await http.post(f"/api/threads/{thread}/runs", json={"question": "What is a probe?"})
    run_id = started.json()["run_id"]
    await http.get(f"/api/runs/{run_id}/events")
    receipt = await http.get(f"/api/runs/{run_id}/receipt")
    assert receipt.json()["run"]["status"] == "abstained"
    assert receipt.headers["Content-Disposition"].endswith('.receipt.json"')


def test_settings_leave_the_home_without_secrets() -> None:
    secret = "hunter2"

    model = ModelSettings(base_url=f"https://user:{secret}@models.test/v1?key={secret}", api_key=SecretStr(secret))
    assert secret not in json.dumps(public_settings(model))
    assert public_settings(model)["base_url"] == "https://models.test/v1"
