from __future__ import annotations

from pathlib import Path

import pytest
import typer

from app.cli.drawing import parse_sampling, read_schema
from app.cli.invocation import parse_request
from app.schema import RunRequest


def test_sampling_becomes_values_of_a_request() -> None:
    values = parse_sampling(["top_p=0.9", "top_k=40", "stop=END", "stop=\n\n"])
    request = parse_request(RunRequest, question="What?", **values)

    assert (request.top_p, request.top_k, request.stop) == (0.9, 40, ("END", "\n\n"))


@pytest.mark.parametrize("pair", ["top_q=1", "top_p", "temperature=1"])
def test_unknown_sampling_names_what_there_is(pair: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"top_p, top_k, min_p, stop"):
        parse_sampling([pair])


def test_value_out_of_range_names_its_field() -> None:
    with pytest.raises(typer.BadParameter, match="top_p"):
        parse_request(RunRequest, question="What?", **parse_sampling(["top_p=3"]))


@pytest.mark.parametrize(("text", "told"), [("{", "is no JSON"), ("[]", "holds no JSON object")])
def test_file_that_is_no_schema_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "schema.json"
    path.write_text(text)

    with pytest.raises(typer.BadParameter, match=told):
        read_schema(path)


def test_missing_schema_is_told(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="cannot be read: No such file"):
        read_schema(tmp_path / "none.json")
