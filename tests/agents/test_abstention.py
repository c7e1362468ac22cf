from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.abstention import (
    EvidenceSignals,
    abstention_text,
    before_generation,
    best_cosine,
    cosine_lead,
    describe_search,
    evidence_signals,
    is_refusal,
    is_too_weak,
    nearest,
)
from agents.answer import Abstention
from agents.errors import ThresholdsInvalid
from agents.request import AnswerRequest
from agents.thresholds import load_thresholds
from retrieval.types import Hit, HitScores, SearchFilter
from tests.agents.passages import CONFIG_MAP, OOM, chunk, evidence

NO_FILTER = SearchFilter()


def _request(question: str) -> AnswerRequest:
    return AnswerRequest("run", "thread", question)


def _hits(*cosines: float) -> list[Hit]:
    texts = (OOM, CONFIG_MAP)
    return [
        Hit(rank, chunk(texts[rank - 1], number=rank, title=f"Page {rank}"), HitScores(dense=cosine))
        for rank, cosine in enumerate(cosines, start=1)
    ]


def _signals(
    cosine: float | None,
    coverage: float,
    *,
    missing: tuple[str, ...] = (),
    names: int = 0,
    missing_code: int = 0,
    code: int = 0,
) -> EvidenceSignals:
    return EvidenceSignals(cosine, coverage, missing, names, missing_code, code)


def test_own_names_versions_and_paths_need_not_be_known() -> None:
    signals = evidence_signals("Why is memory-web-7 on v1.29 at /srv/web killed?", 0.4, evidence(OOM))
    assert signals.missing == ()


def test_figure_counts_in_a_question_of_few_words_only() -> None:
    assert evidence_signals("exit code 255", 0.4, evidence(OOM)).coverage < 0.7
    assert evidence_signals("exit code 137", 0.4, evidence(OOM)).coverage == 1.0
    known = evidence_signals("container stopped by the kernel with exit code 137 on 255 machines", 0.4, evidence(OOM))
    without = evidence_signals("container stopped by the kernel with exit code 137 on machines", 0.4, evidence(OOM))
    assert known.coverage == without.coverage


def test_signals_name_what_stands_in_no_passage() -> None:
    signals = evidence_signals("What does ErrGpuThrottled of Velero mean for memory?", 0.4, evidence(OOM))
    assert signals.missing == ("ErrGpuThrottled", "Velero")
    assert signals.top_cosine == 0.4
    assert 0 < signals.coverage < 0.5


@pytest.mark.parametrize(
    ("signals", "weak"),
    [
        (_signals(0.7, 0.9), False),
        (_signals(0.05, 1.0), True),
        (_signals(None, 0.0), True),
        (_signals(0.45, 0.3), True),
        (_signals(0.45, 0.6), False),
        (_signals(0.7, 0.5, missing=("memorySwapRatio",), names=1, missing_code=1, code=1), True),
        (_signals(0.7, 0.5, missing=("PaymentService",), names=2, missing_code=1, code=2), False),
        (_signals(0.55, 0.5, missing=("Velero",), names=1), True),
        (_signals(0.70, 0.5, missing=("HTTP",), names=1), False),
    ],
)
def test_weak_evidence(signals: EvidenceSignals, weak: bool) -> None:
    assert is_too_weak(signals) == weak


def test_thresholds_of_ones_own_ask_for_a_lead(tmp_path: Path) -> None:
    fitted = load_thresholds()
    limits = fitted.thresholds.model_copy(update={"min_lead": 0.2})
    file = tmp_path / "own.json"
    file.write_text(fitted.model_copy(update={"thresholds": limits}).model_dump_json(), encoding="utf-8")
    close = replace(_signals(0.7, 0.9), lead=0.1)
    assert not is_too_weak(close)
    assert is_too_weak(close, load_thresholds(file))
    assert not is_too_weak(replace(close, lead=0.3), load_thresholds(file))


def test_file_without_thresholds_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ThresholdsInvalid, match=r"evals\.abstention"):
        load_thresholds(tmp_path / "missing.json")


def test_lead_is_counted_from_the_tenth_best() -> None:
    hits = [Hit(n, chunk(OOM, number=n), HitScores(dense=0.9 - n * 0.05)) for n in range(12)]
    assert cosine_lead(hits) == pytest.approx(0.45)
    assert cosine_lead(_hits(0.6, 0.5)) == 0.6
    assert cosine_lead([]) == 0.0


def test_question_without_words_is_weak_not_a_lack_of_documents() -> None:
    abstention = before_generation(_request("???"), "???", (), evidence_signals("???", None, evidence()))
    assert abstention is not None
    assert abstention.reason == "weak_evidence"


def test_answerable_question_goes_on() -> None:
    request = _request("What exit code does a container with too little memory get?")
    signals = evidence_signals(request.question, 0.6, evidence(OOM))
    assert before_generation(request, request.question, _hits(0.6), signals) is None


def test_nearest_passage_counts_wherever_fusion_put_it() -> None:
    assert best_cosine(_hits(0.2, 0.6)) == 0.6
    assert best_cosine([]) is None


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("NOT_FOUND", True),
        ("`NOT_FOUND`", True),
        ("Not found.", True),
        ("The passages do not contain this information.", True),
        ("I don't know.", True),
        ("The provided context does not specify the price.", True),
        ("The Pod does not restart.", False),
        ("A ConfigMap does not contain secrets.", False),
        ("The limit is 1 MiB.", False),
    ],
)
def test_refusals_of_the_model(text: str, refusal: bool) -> None:
    assert is_refusal(text) == refusal


def test_text_says_what_was_searched_what_stood_nearest_and_what_is_needed() -> None:
    abstention = Abstention(
        reason="weak_evidence",
        searched=describe_search("Velero hooks", SearchFilter(collections=("handbook",))),
        nearest=nearest(_hits(0.3, 0.2)),
    )
    text = abstention_text(abstention, "What are Velero hooks?", ["Velero"])
    assert "collection 'handbook'" in text
    assert "“Velero hooks”" in text
    assert "- Page 1\n- Page 2" in text
    assert "speaks of “Velero”" in text


def test_search_over_everything_says_so() -> None:
    assert describe_search("x", NO_FILTER) == "all collections, for “x”"
    assert "team = 'sre'" in describe_search("x", SearchFilter(metadata={"team": "sre"}))


def test_nearest_names_each_section_once() -> None:
    (first, _) = _hits(0.3, 0.2)
    assert len(nearest([first, first])) == 1
