from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.client import ApiClient
from app.errors import ApiProblem
from app.schema import IngestRequest, Problem
from app.search_schema import SearchRequest
from app.serve import serve_embedded
from app.settings import ServerSettings, Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.conftest import ended
from tests.fakes import GatedChatModel


async def test_upload_is_found_shown_and_deleted(api: ApiClient, handbook: Path, settings: Settings) -> None:
    job = await ended(api, await api.upload([handbook], collection="ops"))
    assert job.report is not None
    assert [(file.source, file.status) for file in job.report.files] == [("upload:handbook.md", "indexed")]
    [document] = (await api.documents(collection="ops", status="ready")).documents
    text = (await api.document_text(document.document_id)).text
    chunks = (await api.document_chunks(document.document_id)).chunks
    assert all(text[chunk.char_start : chunk.char_end] == chunk.text for chunk in chunks)
    hits = (await api.search(SearchRequest(query="OOMKilled", collections=("ops",)))).hits
    assert [hit.document_id for hit in hits[:1]] == [document.document_id]
    assert [(info.name, info.documents) for info in (await api.collections()).collections] == [("ops", 1)]
    status = await api.status()
    assert (status.documents, status.consistent) == (1, True)
    assert status.points == status.chunks == len(chunks)
    assert list(settings.home.uploads.iterdir()) == []

    receipt = await api.delete_document(document.document_id)
    assert (receipt.source, receipt.chunks_left) == ("upload:handbook.md", 0)
    assert (await api.search(SearchRequest(query="OOMKilled"))).hits == []
    assert (await api.documents()).documents == []
    assert (await api.status()).consistent


async def test_several_files_of_one_name_do_not_overwrite_each_other_on_the_way_in(
    api: ApiClient, tmp_path: Path
) -> None:
    paths: list[Path] = []
    for number in range(2):
        path = tmp_path / str(number) / "note.md"
        path.parent.mkdir()
        path.write_text(f"# Note\n\nThe number is {number}.\n", encoding="utf-8")
        paths.append(path)
    job = await ended(api, await api.upload(paths))
    assert job.state == "done"
    [document] = (await api.documents()).documents
    assert "The number is 1." in (await api.document_text(document.document_id)).text


async def test_unreadable_file_is_named_and_the_others_go_in(api: ApiClient, handbook: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 broken")
    job = await ended(api, await api.upload([handbook, broken]))
    assert job.report is not None
    assert {file.source: file.status for file in job.report.files} == {
        "upload:handbook.md": "indexed",
        "upload:broken.pdf": "failed",
    }
    [failed] = (await api.documents(status="failed")).documents
    assert failed.source == "upload:broken.pdf"
    assert failed.reason is not None


async def test_paths_of_this_machine_are_ingested_with_the_local_token(api: ApiClient, handbook: Path) -> None:
    job = await ended(api, await api.ingest(IngestRequest(paths=(str(handbook),))))
    assert job.report is not None
    assert job.report.totals["indexed"] == 1
    again = await ended(api, await api.ingest(IngestRequest(paths=(str(handbook),))))
    assert again.report is not None
    assert again.report.totals["unchanged"] == 1
    assert [item.job_id for item in (await api.jobs()).jobs] == [again.job_id, job.job_id]


async def test_upload_above_the_limit_is_refused(settings: Settings, tmp_path: Path) -> None:
    small = settings.model_copy(update={"server": ServerSettings(max_upload_bytes=10_000)})
    path = tmp_path / "large.txt"
    path.write_text("x" * 20_000, encoding="utf-8")
    async with serve_embedded(small, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")) as client:
        with pytest.raises(ApiProblem) as refusal:
            await client.upload([path])
        assert (refusal.value.problem.status, refusal.value.problem.code) == (413, "too_large")
        assert (await client.jobs()).jobs == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd"])
async def test_uploaded_names_cannot_leave_their_folder(http: httpx.AsyncClient, settings: Settings, name: str) -> None:
    response = await http.post("/api/documents", files=[("files", (name, b"# Text\n\nHarmless.\n"))])
    assert response.status_code == 202
    outside = {path for path in settings.home_path.parent.rglob("*") if path.name in ("passwd", "boot.ini")}
    assert all(settings.home.uploads in path.parents for path in outside)


async def test_upload_without_a_name_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post("/api/documents", files=[("files", ("..", b"text"))])
    assert Problem.model_validate_json(response.content).code == "request_invalid"


async def test_misspelt_collection_is_unknown_once_there_are_documents(api: ApiClient, handbook: Path) -> None:
    request = SearchRequest(query="OOMKilled", collections=("handbok",))
    assert (await api.search(request)).hits == []
    await ended(api, await api.upload([handbook], collection="handbook"))
    with pytest.raises(ApiProblem, match="handbook") as refusal:
        await api.search(request)
    assert (refusal.value.problem.status, refusal.value.problem.code) == (404, "collection_unknown")


async def test_filter_key_source_compares_the_documents_source(api: ApiClient, handbook: Path) -> None:
    await ended(api, await api.upload([handbook]))
    found = await api.search(SearchRequest(query="OOMKilled", filter={"source": "upload:handbook.md"}))
    assert found.hits
    other = await api.search(SearchRequest(query="OOMKilled", filter={"source": "upload:other.md"}))
    assert other.hits == []
