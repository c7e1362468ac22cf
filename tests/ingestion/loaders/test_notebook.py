from __future__ import annotations

import json

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.notebook import load_notebook
from ingestion.loaders.select import load


def notebook(*cells: dict[str, object]) -> str:
    metadata = {"language_info": {"name": "Julia"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_cells_become_blocks_in_order() -> None:
    source = notebook(
        {"cell_type": "markdown", "source": ["# Study\n", "\n", "Words."]},
        {"cell_type": "code", "source": "print(42)", "outputs": [{"output_type": "stream", "text": ["42\n"]}]},
    )

    document = load_notebook(source, name="a.ipynb")

    assert document.title == "Study"
    assert [(block.kind, block.language) for block in document.blocks] == [
        ("heading", ""),
        ("paragraph", ""),
        ("code", "julia"),
        ("code", "text"),
    ]
    assert document.text.endswith("```julia\nprint(42)\n```\n\n```text\n42\n```")


def test_plain_form_of_an_output_is_kept_and_terminal_codes_go() -> None:
    data = {"text/html": "<b>7</b>", "text/plain": "7", "image/png": "iVBOR"}
    source = notebook(
        {"cell_type": "code", "source": "7", "outputs": [{"output_type": "execute_result", "data": data}]},
        {
            "cell_type": "code",
            "source": "boom",
            "outputs": [{"output_type": "error", "traceback": ["\x1b[0;31mValueError\x1b[0m: no"]}],
        },
    )

    text = load_notebook(source, name="a.ipynb").text

    assert "```text\n7\n```" in text
    assert "iVBOR" not in text
    assert "```text\nValueError: no\n```" in text


def test_long_output_is_cut_and_says_so() -> None:
    source = notebook({"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "y" * 9000}]})

    assert "[5000 characters of output left out]" in load_notebook(source, name="a.ipynb").text


def test_content_tells_it_under_a_wrong_ending() -> None:
    document = load(notebook({"cell_type": "markdown", "source": "Words."}).encode(), name="a.json").document

    assert document is not None
    assert document.media_type == "application/x-ipynb+json"


def test_cut_notebook_is_corrupt() -> None:
    with pytest.raises(LoadFailed) as raised:
        load_notebook('{"cells": [', name="a.ipynb")
    assert raised.value.reason == "corrupt"
