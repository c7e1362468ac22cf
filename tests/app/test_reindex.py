from __future__ import annotations

from pathlib import Path

import pytest

from agents.testing import ScriptedChatModel
from app.errors import ReindexRefused
from app.reindexing import reindex, roll_back
from app.settings import Settings
from app.wiring import open_platform
from ingestion.sources import discover
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingModelMismatch
from retrieval.types import Chunk, SearchFilter, SearchResult

SMALL = HashingEmbedder(dim=32)
LARGE = HashingEmbedder(dim=128, max_tokens=512)
DOCUMENTS = 12


def load_by_name(model: str) -> Embedder:
    return LARGE if model == "large" else SMALL


def quiet(done: int, total: int, chunks: int) -> None:
    """Progress of no interest."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(DOCUMENTS):
        text = f"# Note {number}\n\nA pod restarts for reason {number}.\n\n## More\n\nThe limit is {number} MiB.\n"
        (folder / f"note-{number}.md").write_text(text, encoding="utf-8")
    return folder


async def ingest(settings: Settings, embedder: Embedder, folder: Path) -> None:
    async with open_platform(settings, embedder=embedder, chat_model=ScriptedChatModel(["Yes."])) as platform:
        await platform.ingester.ingest(discover([str(folder)]), collection="default", prune=True)


async def looked_at(settings: Settings, embedder: Embedder) -> tuple[list[Chunk], SearchResult, bool]:
    async with open_platform(settings, embedder=embedder, chat_model=ScriptedChatModel(["Yes."])) as platform:
        result = platform.retriever.search("Why does a pod restart for reason 7?")
        status = await platform.ingester.status()
        return platform.store.chunks(SearchFilter()), result, status.consistent


def hits(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.chunk.chunk_id, round(hit.scores.fused, 5)) for hit in result.hits]


async def test_reindexed_home_is_what_a_fresh_ingest_makes(settings: Settings, folder: Path, tmp_path: Path) -> None:
    await ingest(settings, SMALL, folder)
    moments: list[tuple[int, int, int]] = []

    report = await reindex(
        settings,
        "large",
        on_progress=lambda done, total, chunks: moments.append((done, total, chunks)),
        load=load_by_name,
    )

    assert (report.embedding_model, report.documents, report.embedded) == ("large", DOCUMENTS, report.chunks)
    assert moments[0][:2] == (0, DOCUMENTS)
    assert moments[-1][:2] == (DOCUMENTS, DOCUMENTS)
    fresh = settings.model_copy(update={"home_path": tmp_path / "fresh"})
    await ingest(fresh, LARGE, folder)
    chunks, result, consistent = await looked_at(settings, LARGE)
    fresh_chunks, fresh_result, _ = await looked_at(fresh, LARGE)
    assert consistent
    assert chunks == fresh_chunks
    assert hits(result) == hits(fresh_result)


async def test_ingest_after_the_switch_finds_all_unchanged(settings: Settings, folder: Path) -> None:
    await ingest(settings, SMALL, folder)
    await reindex(settings, "large", on_progress=quiet, load=load_by_name)
    async with open_platform(settings, embedder=LARGE, chat_model=ScriptedChatModel(["Yes."])) as platform:
        report = await platform.ingester.ingest(discover([str(folder)]), collection="default")
    assert report.totals["unchanged"] == DOCUMENTS


async def test_interrupted_build_leaves_the_old_index_and_goes_on(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingestion.reindexing._GROUP_DOCUMENTS", 5)
    await ingest(settings, SMALL, folder)
    before, _, _ = await looked_at(settings, SMALL)

    def stop(done: int, total: int, chunks: int) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await reindex(settings, "large", on_progress=stop, load=load_by_name)
    assert (await looked_at(settings, SMALL))[0] == before
    (folder / "note-0.md").unlink()
    (folder / "note-1.md").write_text("# Note 1\n\nOther words.\n", encoding="utf-8")
    await ingest(settings, SMALL, folder)

    report = await reindex(settings, "large", on_progress=quiet, load=load_by_name)

    assert 0 < report.embedded < report.chunks
    chunks, _, consistent = await looked_at(settings, LARGE)
    assert consistent
    assert len({chunk.document_id for chunk in chunks}) == DOCUMENTS - 1
    assert any("Other words." in chunk.text for chunk in chunks)


async def test_rollback_brings_the_vectors_before_back_without_embedding(settings: Settings, folder: Path) -> None:
    await ingest(settings, SMALL, folder)
    before, result, _ = await looked_at(settings, SMALL)
    await reindex(settings, "large", on_progress=quiet, load=load_by_name)

    report = await roll_back(settings, on_progress=quiet, load=load_by_name)

    assert (report.embedded, report.previous_model) == (0, "large")
    chunks, result_again, consistent = await looked_at(settings, SMALL)
    assert consistent
    assert chunks == before
    assert hits(result_again) == hits(result)


async def test_rollback_embeds_what_has_changed_since(settings: Settings, folder: Path) -> None:
    await ingest(settings, SMALL, folder)
    await reindex(settings, "large", on_progress=quiet, load=load_by_name)
    (folder / "note-1.md").write_text("# Note 1\n\nOther words.\n", encoding="utf-8")
    await ingest(settings, LARGE, folder)

    assert (await roll_back(settings, on_progress=quiet, load=load_by_name)).embedded == 1

    chunks, _, consistent = await looked_at(settings, SMALL)
    assert consistent
    assert any("Other words." in chunk.text for chunk in chunks)


async def test_models_do_not_mix(settings: Settings, folder: Path) -> None:
    await ingest(settings, SMALL, folder)
    await reindex(settings, "large", on_progress=quiet, load=load_by_name)
    with pytest.raises(EmbeddingModelMismatch):
        async with open_platform(settings, embedder=SMALL, chat_model=ScriptedChatModel(["Yes."])):
            pass
    named = settings.model_copy(update={"embedding": settings.embedding.model_validate({"model": "other/model"})})
    with pytest.raises(EmbeddingModelMismatch, match="reindex"):
        async with open_platform(named, chat_model=ScriptedChatModel(["Yes."])):
            pass


async def test_what_cannot_be_done_is_refused(settings: Settings, folder: Path) -> None:
    settings.home_path.mkdir()
    with pytest.raises(ReindexRefused):
        await reindex(settings, "large", on_progress=quiet, load=load_by_name)
    await ingest(settings, SMALL, folder)
    with pytest.raises(ReindexRefused):
        await reindex(settings, "hashing-32-256", on_progress=quiet, load=load_by_name)
    with pytest.raises(ReindexRefused):
        await roll_back(settings, on_progress=quiet, load=load_by_name)
