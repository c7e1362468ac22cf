"""The fifty schemas: what they cover, and how outcomes are judged; the model is scripted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents.answer import Abstention, Answer, Claim
from agents.events import AnswerDone, FailureKind, RunEvent, RunFailed, RunFinished
from agents.structured import check_schema
from agents.testing import ScriptedChatModel
from app.serve import serve_embedded
from app.settings import Settings
from evals.errors import QuestionsUnreadable
from evals.schemas import SchemaCase, judge, play, read_texts, sum_up
from retrieval.embedders.hashing import HashingEmbedder

CASES = [case for text in read_texts() for case in text.cases]
CASE = SchemaCase.model_validate(
    {
        "id": "ending",
        "features": ["flat"],
        "question": "How did it end?",
        "schema": {"type": "object", "properties": {"code": {"type": "integer"}}, "required": ["code"]},
    }
)


def _stamp(seq: int) -> dict[str, Any]:
    return {"run_id": "r", "thread_id": "t", "seq": seq, "at": datetime.now(UTC)}


def _ended(answer: Answer) -> list[RunEvent]:
    done = AnswerDone(**_stamp(1), answer=answer, usage=answer.usage)
    return [done, RunFinished(**_stamp(2), status="answered" if answer.status == "answered" else "abstained")]


def _answer(**more: Any) -> Answer:
    return Answer.model_validate({"status": "answered", "answer": "", "run_id": "r", "thread_id": "t", **more})


def test_fifty_different_schemas_cover_what_json_schema_has() -> None:
    assert len(CASES) == len({case.id for case in CASES}) == 50
    assert len({json.dumps(case.schema_, sort_keys=True) for case in CASES}) == 50
    covered = {feature for case in CASES for feature in case.features}
    assert covered >= {
        "nested", "enum", "array", "minItems", "maxItems", "union", "anyOf", "oneOf", "allOf", "optional", "const",
        "bounds", "pattern", "date", "date-time", "ref", "recursion", "map", "prefixItems", "if-then", "uniqueItems",
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_schema_can_be_asked(case: SchemaCase) -> None:
    check_schema(case.schema_)
    assert not Draft202012Validator(case.schema_).is_valid({"something": "else"})


def test_object_that_fits_is_valid_and_its_values_are_counted() -> None:
    claims = (Claim(text="code: 137", verdict="verified"), Claim(text="x", verdict="unsupported"))

    result = judge(CASE, _ended(_answer(output={"code": 137}, claims=claims, repairs=1)), seconds=1.0)

    assert (result.outcome, result.repairs, result.values, result.unsupported) == ("valid", 1, 2, 1)


def test_object_that_does_not_fit_is_broken_whatever_the_product_says() -> None:
    result = judge(CASE, _ended(_answer(output={"code": "137"})), seconds=1.0)

    assert (result.outcome, result.reason) == ("broken", "'137' is not of type 'integer'")


@pytest.mark.parametrize(("kind", "outcome"), [("output_invalid", "honest"), ("internal_error", "broken")])
def test_failure_is_honest_unless_nobody_expected_it(kind: FailureKind, outcome: str) -> None:
    assert judge(CASE, [RunFailed(**_stamp(1), kind=kind, message="No.")], seconds=1.0).outcome == outcome


def test_abstention_is_honest_and_two_ends_are_broken() -> None:
    abstained = _answer(status="abstained", abstention=Abstention(reason="weak_evidence", searched="x"))
    ended = _ended(abstained)

    assert judge(CASE, ended, seconds=1.0).reason == "weak_evidence"
    assert judge(CASE, [*ended, ended[-1]], seconds=1.0).outcome == "broken"
    assert judge(CASE, ended[:1], seconds=1.0).outcome == "broken"


async def test_case_is_played_over_the_api_and_leaves_no_thread(tmp_path: Path) -> None:
    (text,) = [text for text in read_texts() if text.name == "Incident 311"]
    model = ScriptedChatModel(
        ['{"container": "orders"}', '{"container": "orders", "exit_code": 143, "reason": "OOMKilled"}']
    )
    async with serve_embedded(Settings(home_path=tmp_path), embedder=HashingEmbedder(), chat_model=model) as api:
        result = await play(api, text, text.cases[0])

        assert (await api.threads()).threads == []
    report = sum_up([result])
    assert (report.valid, report.repaired, report.values, report.unsupported) == (1, 1, 3, 1)
    assert result.output == {"container": "orders", "exit_code": 143, "reason": "OOMKilled"}


def test_file_that_holds_no_cases_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(QuestionsUnreadable, match=r"x\.json is no file of schema cases"):
        read_texts(tmp_path)
