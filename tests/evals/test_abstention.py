from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agents.abstention import EvidenceSignals
from agents.answerability import SIGNS
from agents.thresholds import FittedThresholds, load_thresholds
from evals.abstention import Row, judge_questions, read_rows, report
from evals.abstention_fit import JudgedQuestion, cosine_curve, decision, doubt_curve, fit_learned, fit_rules
from evals.errors import DatasetUnreadable
from evals.reports.plots import curve_svg
from retrieval.embedders.hashing import HashingEmbedder
from tests.agents.passages import CONFIG_MAP, OOM, WordSearch

ROWS = [
    Row(question="Which exit code has a container that uses more memory than its limit?", answerable=True),
    Row(question="Who won the football world cup?", answerable=False),
]


def _question(answerable: bool, cosine: float, *, lead: float = 0.0, conversation: str = "?") -> JudgedQuestion:
    signals = EvidenceSignals(cosine, coverage=1.0, missing=(), names=0, missing_code=0, code=0)
    return JudgedQuestion("?", answerable, signals, {**dict.fromkeys(SIGNS, 0.0), "lead_of_ten": lead}, conversation)


def _conversations(count: int) -> list[JudgedQuestion]:
    """Answerable questions lead by 0.3 and more, the others by 0.2 and less, two of a conversation."""
    chance = random.Random(7)
    return [
        _question(
            answerable := number % 4 < 2,
            0.6,
            lead=chance.uniform(0.3, 0.5) if answerable else chance.uniform(0, 0.2),
            conversation=str(number // 2),
        )
        for number in range(count)
    ]


def test_curve_counts_precision_and_recall_of_abstaining() -> None:
    questions = [_question(True, 0.7), _question(True, 0.4), _question(False, 0.3), _question(False, 0.6)]
    assert cosine_curve(questions, [0.2, 0.35, 0.65]) == [(0.2, 1.0, 0.0), (0.35, 1.0, 0.5), (0.65, 2 / 3, 1.0)]
    assert doubt_curve(questions, [0.1, 0.6, 0.9, 0.5], [0.5, 0.7]) == [(0.5, 2 / 3, 1.0), (0.7, 1.0, 0.5)]


def test_decision_is_that_of_the_graph() -> None:
    judged = judge_questions(ROWS, WordSearch([CONFIG_MAP, OOM]))
    assert decision(judged)[1:] == (1.0, 1.0)


def test_fit_finds_the_threshold_that_tells_the_questions_apart() -> None:
    questions = [_question(True, 0.7), _question(True, 0.58), _question(False, 0.5), _question(False, 0.44)]
    start = load_thresholds()
    assert decision(questions, start)[1:] == (1.0, 0.0)
    fitted = fit_rules(questions, start)
    assert 0.5 < fitted.min_cosine <= 0.58
    assert decision(questions, start.model_copy(update={"thresholds": fitted}))[1:] == (1.0, 1.0)


def test_fit_leaves_thresholds_that_are_right() -> None:
    start = load_thresholds()
    assert fit_rules([_question(True, 0.7), _question(False, 0.2)], start) == start.thresholds


def test_weights_find_the_sign_that_tells_the_questions_apart() -> None:
    fitted = fit_learned(_conversations(120))
    assert min(fitted.precision, fitted.recall) > 0.95
    assert max(fitted.learned.weights, key=lambda name: abs(fitted.learned.weights[name])) == "lead_of_ten"
    assert fitted.learned.doubt(_question(True, 0.6, lead=0.5).signs) < fitted.learned.threshold
    assert fitted.learned.doubt(_question(False, 0.6, lead=0.1).signs) >= fitted.learned.threshold


def test_weights_that_know_nothing_say_so_of_questions_they_have_not_seen() -> None:
    chance = random.Random(3)
    blind = [_question(chance.random() < 0.5, 0.6, lead=chance.random(), conversation=str(n)) for n in range(200)]
    assert fit_learned(blind).precision < 0.7


def test_weights_need_questions_of_both_kinds() -> None:
    with pytest.raises(DatasetUnreadable, match=r"25 questions with an answer .* there are 10"):
        fit_learned([*_conversations(20), *(_question(True, 0.6) for _ in range(50))])


def test_fitted_file_decides_by_its_weights(tmp_path: Path) -> None:
    questions = _conversations(120)
    fitted = report(questions, load_thresholds(), method="learned", name="made up", model="m")
    file = tmp_path / "own.json"
    file.write_text(fitted.model_dump_json(), encoding="utf-8")
    read = load_thresholds(file)
    assert (read.curve_of, read.unanswerable, read.questions) == ("doubt", 60, 120)
    assert decision(questions, read)[1:] == (1.0, 1.0)
    assert decision(questions)[1:] == (1.0, 0.0)


def test_search_gives_a_sign_for_each_weight() -> None:
    judged = judge_questions(ROWS, WordSearch([CONFIG_MAP, OOM]), HashingEmbedder(dim=64))
    assert all(set(one.signs) == set(SIGNS) for one in judged)
    known, unknown = (one.signs for one in judged)
    assert known["first_coverage"] > unknown["first_coverage"]
    assert known["question_sentence"] > unknown["question_sentence"]


def test_folder_gives_the_questions_that_are_clearly_one_or_the_other(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "What is a pod?"}, {"role": "assistant", "content": "A group."}]
    lines = [
        {"_id": "1", "text": "Why?", "metadata": {"answerability": "ANSWERABLE", "history": history}},
        {"_id": "2", "text": "Who?", "metadata": {"answerability": "UNANSWERABLE"}},
        {"_id": "3", "text": "It?", "metadata": {"answerability": "UNDERSPECIFIED"}},
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    rows, left_out = read_rows(tmp_path)
    assert [(row.question, row.answerable, len(row.history)) for row in rows] == [("Why?", True, 2), ("Who?", False, 0)]
    assert left_out == {"UNDERSPECIFIED": 1}
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "Why?"}', encoding="utf-8")
    with pytest.raises(DatasetUnreadable, match="metadata"):
        read_rows(tmp_path)


def test_curve_is_a_picture_that_opens_alone() -> None:
    fitted: FittedThresholds = report(_conversations(120), load_thresholds(), method="learned", name="n", model="m")
    root = ElementTree.fromstring(curve_svg(fitted.curve, of=fitted.curve_of))
    assert root.tag.endswith("svg")
    assert sum(len(line.get("points", "").split()) == 19 for line in root.iter() if line.tag.endswith("polyline")) == 2
