"""Pictures of pages and places of chunks, of uploads and of files of this machine."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import httpx
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from app.client import ApiClient
from app.errors import OriginalMissing
from app.originals import Originals
from app.page_schema import PagePlace
from app.schema import ChunkList
from ingestion.types import DocumentRecord
from tests.app.conftest import ended

SENTENCE = "A container that uses more memory than its limit is killed."


def pdf(sentence: str = SENTENCE) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.drawString(60, 700, sentence)
    canvas.save()
    return buffer.getvalue()


async def uploaded(api: ApiClient, tmp_path: Path) -> str:
    """Id of the document that was made of an uploaded PDF."""
    path = tmp_path / "pods.pdf"
    path.write_bytes(pdf())
    job = await ended(api, await api.upload([path]))
    path.unlink()
    assert job.report is not None
    return job.report.files[0].document_id


async def test_page_of_an_upload_is_drawn_and_its_chunk_found_on_it(
    api: ApiClient, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    document_id = await uploaded(api, tmp_path)

    picture = await http.get(f"/api/documents/{document_id}/pages/1.png", params={"width": 300})
    chunks = ChunkList.model_validate((await http.get(f"/api/documents/{document_id}/chunks")).json()).chunks
    query = {"chunk_id": chunks[0].chunk_id}
    answer = await http.get(f"/api/documents/{document_id}/pages/1/place", params=query)
    place = PagePlace.model_validate(answer.json())

    assert Image.open(io.BytesIO(picture.content)).size == (300, 400)
    (box,) = place.boxes
    assert box.left < 0.15 < box.right
    assert box.top < 1 - 700 / 800 <= box.bottom + 0.005


async def test_page_that_is_not_there_is_named(api: ApiClient, http: httpx.AsyncClient, tmp_path: Path) -> None:
    document_id = await uploaded(api, tmp_path)

    answer = await http.get(f"/api/documents/{document_id}/pages/2.png")

    assert (answer.status_code, answer.json()["code"]) == (404, "page_unknown")


async def test_deleted_upload_leaves_nothing_behind(api: ApiClient, http: httpx.AsyncClient, tmp_path: Path) -> None:
    document_id = await uploaded(api, tmp_path)
    await http.delete(f"/api/documents/{document_id}")

    assert list(tmp_path.rglob("originals/*")) == []


def test_files_that_no_document_was_made_of_are_forgotten_at_the_start(tmp_path: Path) -> None:
    paths = [tmp_path / "one.pdf", tmp_path / "two.pdf", tmp_path / "note.md"]
    for path, data in zip(paths, (pdf(), pdf("Another sentence."), b"# Note"), strict=True):
        path.write_bytes(data)
    originals = Originals(tmp_path / "originals")
    originals.keep(paths)
    kept = hashlib.sha256(paths[0].read_bytes()).hexdigest()

    record = DocumentRecord(
        document_id="d", source="upload:one.pdf", title="", collection="c", status="ready", content_sha256=kept
    )
    originals.prune([record])

    assert [path.name for path in (tmp_path / "originals").iterdir()] == [kept]


def test_file_that_changed_is_not_drawn_as_the_one_that_was_read(tmp_path: Path) -> None:
    path = tmp_path / "pods.pdf"
    path.write_bytes(pdf())
    record = DocumentRecord(
        document_id="d", source=path.as_posix(), title="", collection="default", status="ready",
        media_type="application/pdf", content_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )  # fmt: skip
    originals = Originals(tmp_path / "originals")
    assert originals.read(record) == path.read_bytes()

    path.write_bytes(pdf("Another sentence."))

    with pytest.raises(OriginalMissing):
        originals.read(record)
