from __future__ import annotations

import pytest

from ingestion.loaders.delimited import load_delimited


def table(source: str) -> list[str]:
    document = load_delimited(source, name="a.csv")
    return [
        line
        for block in document.blocks
        if block.kind == "table"
        for line in document.text[block.char_start : block.char_end].split("\n")
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(delimiter: str) -> None:
    rows = [["name", "amount"], ["Rasmussen, Ltd", "1.234,50"], ["Ole", "2.000,00"]]
    source = "\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)

    assert table(source) == [
        "| name | amount |",
        "| --- | --- |",
        "| Rasmussen, Ltd | 1.234,50 |",
        "| Ole | 2.000,00 |",
    ]


def test_quoted_line_ends_and_quotes_stay_in_their_cell() -> None:
    assert table('id,note\n1,"first\nsecond, ""so"""\n2,x\n')[2:] == ['| 1 | first second, "so" |', "| 2 | x |"]


def test_table_of_figures_without_header_gets_numbered_columns() -> None:
    assert table("1,2.5\n3,4.5\n5,6.5\n")[:3] == ["| Column 1 | Column 2 |", "| --- | --- |", "| 1 | 2.5 |"]


def test_years_as_header_of_named_rows_stay_the_header() -> None:
    assert table("country,2019,2020\nItaly,1,2\n")[0] == "| country | 2019 | 2020 |"


def test_lines_above_the_table_are_its_caption() -> None:
    document = load_delimited("Sales report,,\nRegion,Year,Sum\nNorth,2024,7\nSouth,2024,9\n", name="a.csv")

    assert [block.kind for block in document.blocks] == ["paragraph", "table"]
    assert document.text.startswith("Sales report\n\n| Region |")


def test_text_without_columns_is_paragraphs() -> None:
    document = load_delimited("just words\n\nmore words", name="a.csv")

    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph"]


def test_rows_are_counted_with_the_header() -> None:
    assert load_delimited("a,b\n1,2\n", name="a.csv").metadata["rows"] == 2
