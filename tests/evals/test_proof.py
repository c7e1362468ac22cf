from __future__ import annotations

from pathlib import Path

from evals.proof import measure

HANDBOOK = Path(__file__).parents[2] / "samples"


def test_altered_claims_are_flagged_and_true_ones_believed_on_the_sample_handbook() -> None:
    texts = {str(path.relative_to(HANDBOOK)): path.read_text(encoding="utf-8") for path in HANDBOOK.rglob("*.md")}
    rates = measure(texts, per_document=2).rates
    assert rates["altered"].total > 100
    assert rates["altered"].share >= 0.98
    assert rates["wrong_passage"].share >= 0.98
    assert rates["true"].share <= 0.05
