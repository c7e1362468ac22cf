import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.deploy.compose_file import ROOT, read_compose

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_linter_finds_nothing():
    linter = Path(sys.executable).with_name("hadolint")
    if not linter.is_file():
        pytest.skip("hadolint is not installed; it comes with the development dependencies")
    result = subprocess.run([linter, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def test_every_package_of_the_wheel_is_copied_into_the_build():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = [line.split()[1] for line in TEXT.splitlines() if re.match(r"COPY (\w+) \1$", line)]
    assert sorted(copied) == sorted(packages)


def test_every_copied_path_exists_and_reaches_the_builder():
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"
    }
    sources = [
        source
        for line in TEXT.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert [source for source in sources if source not in allowed] == []
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_last_stage_runs_as_a_user_that_is_not_root():
    runtime = TEXT.split("FROM ")[-1]
    users = re.findall(r"^USER (.+)$", runtime, re.MULTILINE)
    assert users == ["10001:10001"]


def test_both_stages_start_from_the_same_pinned_image():
    images = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    assert len(set(images)) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-\w+", images[0])


def test_image_starts_what_compose_starts():
    command = re.search(r"^CMD (\[.+\])$", TEXT, re.MULTILINE)
    api = read_compose({"QDRANT_API_KEY": "a", "VLLM_API_KEY": "b"})["services"]["api"]
    assert command is not None
    assert command[1] == '["serve", "--host", "0.0.0.0", "--port", "8080"]'
    assert api["command"] == ["serve", "--host", "0.0.0.0", "--port", "8080"]
    assert 'ENTRYPOINT ["groundwork"]' in TEXT
