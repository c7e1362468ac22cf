"""The shape of the repository: layers, sizes, names, and nothing of one machine or one registry in it."""

from __future__ import annotations

import ast
import importlib
import re
import statistics
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "retrieval", "agents", "tools", "ingestion", "ui", "evals")
MAX_LINES = 400
MAX_MEDIAN_LINES = 150

# Written in pieces, so that this file does not hold what it forbids.
FOREIGN_HOSTS = ("pypi" + ".org", "pythonhosted" + ".org", "huggingface" + ".co", "hf" + ".co", "modelscope" + ".cn")
MACHINE_PATHS = ("/" + "work/", "/" + "tmp/gw", "/" + "opt/pypi")


@cache
def tracked() -> tuple[Path, ...]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return tuple(path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file())


def modules() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES]


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_layers_hold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename="pyproject.toml", no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_no_module_is_too_long() -> None:
    assert [f"{path.relative_to(ROOT)}: {lines(path)}" for path in modules() if lines(path) > MAX_LINES] == []


def test_median_module_is_short() -> None:
    # Package docstrings alone would pull the median down.
    assert statistics.median(lines(path) for path in modules() if path.name != "__init__.py") < MAX_MEDIAN_LINES


@pytest.mark.parametrize("package", PACKAGES)
def test_package_file_is_one_docstring(package: str) -> None:
    body = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8")).body
    assert len(body) == 1
    assert isinstance(body[0], ast.Expr)


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_ours_and_nobody_else_installs_one_of_that_name(package: str) -> None:
    found = importlib.import_module(package).__file__
    assert found is not None
    assert Path(found).is_relative_to(ROOT)
    assert set(packages_distributions().get(package, [])) <= {"groundwork"}


def test_no_module_of_the_ui_hides_another_one() -> None:
    # Streamlit puts ui/ first on the import path, so that ui/app.py would be "app" there.
    taken = {*PACKAGES, *sys.stdlib_module_names}
    names = {path.stem if path.is_file() else path.name for path in (ROOT / "ui").iterdir()}
    assert names & taken == set()


@pytest.mark.parametrize("needle", [*FOREIGN_HOSTS, *MACHINE_PATHS])
def test_tracked_files_name_no_registry_no_hub_and_no_path_of_one_machine(needle: str) -> None:
    # "files.HOST" is that host, "not-HOST" is not; a slash before it makes it a path inside the repository.
    before = rb"(?<![\w.-])" if needle.startswith("/") else rb"(?<![\w-])"
    pattern = re.compile(before + re.escape(needle).encode())
    found = [str(path.relative_to(ROOT)) for path in tracked() if pattern.search(path.read_bytes())]
    assert found == []
