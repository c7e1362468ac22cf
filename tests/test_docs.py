"""What the documents say is held against the tree: links, commands, options, files, settings, code."""

import ast
import json
import re
import shlex
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from app.cli.main import run
from app.settings_reference import setting_docs

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?:[\w.-]+/)+[\w-]+\.(?:py|md|toml|env|yml|txt|html|pdf|docx|jsonl)")
_GLOBAL_OPTIONS = ("--help", "--home", "--config", "--debug", "--version")


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block of a document."""

    document: str
    language: str
    text: str


def prose(path: Path) -> str:
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def code_blocks() -> list[Code]:
    blocks: list[Code] = []
    for path in DOCUMENTS:
        for indent, language, text in _FENCE.findall(path.read_text(encoding="utf-8")):
            lines = [line.removeprefix(indent) for line in text.splitlines()]
            blocks.append(Code(path.name, language, "\n".join(lines) + "\n"))
    return blocks


def shell_lines(code: Code) -> list[str]:
    joined = re.sub(r"\\\n\s*", " ", code.text)
    return [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]


def commands() -> list[tuple[str, ...]]:
    """Every call of ``groundwork`` in a shell block or a code span, as words without placeholders such as ``ID``."""
    lines = [line for code in code_blocks() if code.language == "sh" for line in shell_lines(code)]
    lines += [span for path in DOCUMENTS for span in _SPAN.findall(prose(path))]
    calls = [
        re.split(r" (?:\||--) ", match[1])[0]
        for line in lines
        if (match := re.search(r"(?:^|[\s/])groundwork (.+)$", line))
    ]
    words = [[word for word in shlex.split(call, comments=True) if not word.isupper()] for call in calls]
    return sorted({tuple(call) for call in words if call})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path):
    dead: list[str] = []
    for target in _LINK.findall(prose(path)):
        name, _, anchor = target.partition("#")
        if name.startswith(("http://", "https://", "mailto:")):
            continue
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    assert dead == []


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_named_in_text_exist(path: Path):
    drawn = "".join(text for _, language, text in _FENCE.findall(path.read_text("utf-8")) if language == "text")
    named = {span for span in _SPAN.findall(prose(path)) if _PATH.fullmatch(span)} | set(_PATH.findall(drawn))
    places = (ROOT, ROOT / "docs", ROOT / path.stem, ROOT / "samples" / "handbook")
    assert sorted(name for name in named if not any((place / name).exists() for place in places)) == []


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_and_their_options_exist(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    path = command_path(words)
    assert run([*path, "--help"]) == 0
    shown = capsys.readouterr().out
    known = {*re.findall(r"--[a-z-]+", shown), *_GLOBAL_OPTIONS}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} - known == set()


def command_path(words: tuple[str, ...]) -> list[str]:
    """The command and, for a group, its sub-command."""
    groups = ("documents", "models", "eval", "memory", "mcp", "approvals", "grants")
    names = [word for word in words if not word.startswith("-")]
    return names[: 2 if names and names[0] in groups else 1]


@pytest.mark.parametrize("code", code_blocks(), ids=lambda code: f"{code.document}-{code.language}")
def test_code_blocks_are_well_formed(code: Code):
    match code.language:
        case "python":
            ast.parse(code.text)
        case "sh":
            subprocess.run(["bash", "-n"], input=code.text, text=True, check=True)
        case "json":
            json.loads(code.text)
        case "toml":
            tomllib.loads(code.text)
        case "yaml":
            yaml.safe_load(code.text)
        case "text" | "console" | "markdown" | "mermaid":
            pass
        case _:
            pytest.fail(f"Code of unknown language {code.language!r}.")


def test_settings_named_in_documents_exist():
    known = {setting.variable for setting in setting_docs()}
    named = {name for path in DOCUMENTS for name in re.findall(r"GROUNDWORK_[A-Z]+__[A-Z_]+", path.read_text("utf-8"))}
    chosen_by_people = {name for name in named if name.startswith("GROUNDWORK_ENDPOINTS__")}
    assert named - known - chosen_by_people - {"GROUNDWORK_SECTION__FIELD"} == set()


def test_make_targets_named_in_documents_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8"))}
    assert named - targets == set()
    assert {"up", "test"} <= named


def test_index_lists_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []
