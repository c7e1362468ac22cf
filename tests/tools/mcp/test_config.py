from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.errors import ToolDefinitionInvalid
from tools.mcp.config import read_mcp_servers, write_entry


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


def write(path: Path, **servers: object) -> None:
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def test_no_file_is_no_servers(path: Path) -> None:
    assert read_mcp_servers(path, {}).servers == {}


def test_variables_are_filled_wherever_they_stand(path: Path) -> None:
    write(
        path,
        local={"command": "${BIN}/x", "args": ["--key", "${SECRET}"], "env": {"MODE": "${MODE:-fast}"}},
        far={"url": "http://${HOST}/mcp", "headers": {"Authorization": "Bearer ${SECRET}"}},
    )
    servers = read_mcp_servers(path, {"SECRET": "s3", "BIN": "/bin", "HOST": "127.0.0.1:9"}).servers
    assert servers["local"].command == "/bin/x"
    assert servers["local"].args == ("--key", "s3")
    assert servers["local"].env == {"MODE": "fast"}
    assert servers["far"].url == "http://127.0.0.1:9/mcp"
    assert servers["far"].headers == {"Authorization": "Bearer s3"}
    assert "s3" not in servers["far"].endpoint


def test_one_wrong_entry_costs_that_server_alone(path: Path) -> None:
    write(
        path,
        good={"command": "x"},
        both={"command": "x", "url": "http://127.0.0.1/mcp"},
        neither={},
        variable={"command": "x", "env": {"KEY": "${MISSING}"}},
        groundwork={"command": "x"},
        old={"url": "http://127.0.0.1/sse", "type": "sse"},
        scheme={"url": "ftp://127.0.0.1/mcp"},
    )
    read = read_mcp_servers(path, {})
    assert set(read.servers) == {"good"}
    assert set(read.problems) == {"both", "neither", "variable", "groundwork", "old", "scheme"}
    assert "'MISSING'" in read.problems["variable"]
    assert all(problem.endswith(".") for problem in read.problems.values())


def test_keys_of_other_clients_are_named_and_ignored(path: Path) -> None:
    write(path, a={"command": "x", "alwaysAllow": ["read"], "autoApprove": True})
    assert read_mcp_servers(path, {}).servers["a"].ignored_keys == ("alwaysAllow", "autoApprove")


@pytest.mark.parametrize("text", ["", "[]", '{"mcpServers": []}', "{"])
def test_a_file_that_does_not_fit_is_one_sentence(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolDefinitionInvalid, match=r"mcp\.json"):
        read_mcp_servers(path, {})


def test_writing_an_entry_keeps_everything_else_and_hides_the_file_from_others(path: Path) -> None:
    path.write_text(json.dumps({"theirs": {"x": 1}, "mcpServers": {"a": {"command": "x", "foreign": [1]}}}))
    write_entry(path, "b", {"url": "http://127.0.0.1/mcp"})
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == {
        "theirs": {"x": 1},
        "mcpServers": {"a": {"command": "x", "foreign": [1]}, "b": {"url": "http://127.0.0.1/mcp"}},
    }
    assert path.stat().st_mode & 0o777 == 0o600
    write_entry(path, "a", None)
    assert set(json.loads(path.read_text(encoding="utf-8"))["mcpServers"]) == {"b"}
    assert [item.name for item in path.parent.iterdir()] == ["mcp.json"]
