from __future__ import annotations

from agents.abstention import EvidenceSignals
from agents.thresholds import load_thresholds
from evals.abstention import JudgedQuestion, Row, curve, decision, fit, judge_questions
from tests.agents.passages import CONFIG_MAP, OOM, WordSearch


def _question(answerable: bool, cosine: float) -> JudgedQuestion:
    signals = EvidenceSignals(cosine, coverage=1.0, missing=(), names=0, missing_code=0, code=0)
    return JudgedQuestion("?", answerable, signals)


def test_curve_counts_precision_and_recall_of_abstaining() -> None:
    questions = [_question(True, 0.7), _question(True, 0.4), _question(False, 0.3), _question(False, 0.6)]
    assert curve(questions, [0.2, 0.35, 0.65]) == [(0.2, 1.0, 0.0), (0.35, 1.0, 0.5), (0.65, 2 / 3, 1.0)]


def test_decision_is_that_of_the_graph() -> None:
    rows = [
        Row(question="Which exit code has a container that uses more memory than its limit?", answerable=True),
        Row(question="Who won the football world cup?", answerable=False),
    ]
    judged = judge_questions(rows, WordSearch([CONFIG_MAP, OOM]))
    assert decision(judged)[1:] == (1.0, 1.0)


def test_fit_finds_the_threshold_that_tells_the_questions_apart() -> None:
    questions = [_question(True, 0.7), _question(True, 0.58), _question(False, 0.5), _question(False, 0.44)]
    start = load_thresholds().thresholds
    assert decision(questions, start)[1:] == (1.0, 0.0)
    fitted = fit(questions, start)
    assert 0.5 < fitted.min_cosine <= 0.58
    assert decision(questions, fitted)[1:] == (1.0, 1.0)


def test_fit_leaves_thresholds_that_are_right() -> None:
    start = load_thresholds().thresholds
    assert fit([_question(True, 0.7), _question(False, 0.2)], start) == start
