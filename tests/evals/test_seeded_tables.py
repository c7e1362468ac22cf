from __future__ import annotations

from evals.proof import is_verified
from evals.seeded_faults import read_corpus, score
from evals.seeded_tables import cells_of, table_cases

TABLE = """| Service | First step | Second step | Owner |
| --- | --- | --- | --- |
| booking | 4 minutes | 8 minutes | team 7 |
| labels | 5 minutes | 10 minutes | team 9 |
| labels | 6 minutes | 12 minutes | team 9 |
| rates | 14 minutes | 8 minutes | nobody |
"""
TEXTS = {
    "rollouts.md": f"# Rollouts\n\nHow long each step takes.\n\n{TABLE}",
    "prose.md": "# Prose\n\nThere is no table here, only a sentence about 3 things.",
    "words.md": "# Words\n\n| name | meaning |\n| --- | --- |\n| one | the first |\n| two | the second |\n",
}


def test_cells_are_figures_of_rows_that_have_names_of_their_own() -> None:
    found = {(cell.title, cell.label): cell for cell in cells_of(TABLE)}
    assert set(found) == {(title, row) for title in ("First step", "Second step") for row in ("booking", "rates")}


def test_other_figures_are_those_of_the_row_and_those_that_the_row_lacks() -> None:
    cell = next(cell for cell in cells_of(TABLE) if (cell.label, cell.title) == ("booking", "Second step"))
    assert cell.others_of_row == ("4 minutes",)
    assert cell.others_of_column == ("10 minutes", "12 minutes")


def test_false_claims_take_their_figure_from_another_column_or_row() -> None:
    cases = table_cases(read_corpus(TEXTS), TEXTS, seed=1, per_document=9)
    assert {case.document for case in cases} == {"rollouts.md"}
    assert {case.kind for case in cases} == {"cell", "column", "row"}
    for case in cases:
        assert case.true == (case.claim == case.original) == (case.kind == "cell")
        assert TABLE.strip() in case.passages[0]


def test_same_seed_gives_the_same_cases() -> None:
    corpus = read_corpus(TEXTS)
    assert table_cases(corpus, TEXTS, seed=2) == table_cases(corpus, TEXTS, seed=2)


def test_the_proof_tells_them_apart() -> None:
    rates = score(table_cases(read_corpus(TEXTS), TEXTS, seed=1, per_document=9), is_verified)
    assert (rates["true"].flagged, rates["altered"].share) == (0, 1.0), rates
