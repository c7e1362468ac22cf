from __future__ import annotations

import datetime

import pytest

from ingestion.loaders.sheet_tables import CellValue, cell_text, sheet_parts


def parts(*rows: tuple[CellValue, ...]) -> list[str]:
    return [part.text for part in sheet_parts(rows)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12553.0, "12553"),
        (-81.5, "-81.5"),
        (0.1 + 0.2, "0.3"),
        (1e21, "1e+21"),
        (True, "TRUE"),
        (datetime.date(1990, 1, 1), "1990-01-01"),
        (datetime.datetime.fromisoformat("2024-01-01"), "2024-01-01"),
        (datetime.datetime.fromisoformat("2024-01-01 00:01:14.000900"), "2024-01-01 00:01:14"),
        (datetime.time(7, 30), "07:30:00"),
        (datetime.timedelta(hours=30), "1 day, 6:00:00"),
    ],
)
def test_values_are_written_as_people_read_them(value: CellValue, text: str) -> None:
    assert cell_text(value) == text


def test_title_above_and_notes_below_a_table_are_captions() -> None:
    found = parts(("Report", ""), ("", ""), ("Name", "Value"), ("cpu", 2.0), ("", ""), ("(a) estimated", ""))

    assert found == ["Report", "| Name | Value |\n| --- | --- |\n| cpu | 2 |", "(a) estimated"]


def test_headings_in_several_rows_become_one() -> None:
    found = parts(("Zone", "2023", "2023"), ("", "Sales", "Profit"), ("North", 1.0, 2.0))

    assert found == ["| Zone | 2023 / Sales | 2023 / Profit |\n| --- | --- | --- |\n| North | 1 | 2 |"]


def test_header_apart_from_its_figures_stays_with_them() -> None:
    assert len(parts(("Zone", "Sales"), ("", ""), ("North", 1.0), ("", ""), ("South", 2.0))) == 1


def test_second_header_begins_a_second_table() -> None:
    found = parts(("Zone", "Sales"), ("North", 1.0), ("", ""), ("Team", "Size"), ("Ops", 4.0))

    assert [text.splitlines()[0] for text in found] == ["| Zone | Sales |", "| Team | Size |"]


def test_years_may_head_columns_and_figures_may_not() -> None:
    assert parts(("Zone", 2022.0, 2023.0), ("North", 1.0, 2.0))[0].startswith("| Zone | 2022 | 2023 |\n| ---")
    assert parts(("North", 1.5), ("South", 2.5))[0].startswith("|  |  |\n| ---")


def test_columns_without_text_are_left_out() -> None:
    assert parts(("Zone", "", "Sales"), ("North", " ", 1.0)) == ["| Zone | Sales |\n| --- | --- |\n| North | 1 |"]


def test_sheet_without_text_has_no_parts() -> None:
    assert parts(("", " "), ("",)) == []
