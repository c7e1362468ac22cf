from __future__ import annotations

import pytest

from agents.citations import prove
from agents.quoting import quoted_answer
from tests.agents.passages import CONFIG_MAP, JOB, OOM, evidence

PASSAGES = evidence(CONFIG_MAP, OOM, JOB)


def test_sentence_that_holds_the_question_is_the_answer_and_proved() -> None:
    question = "What size can the data stored in a ConfigMap not exceed?"
    text = quoted_answer(question, PASSAGES)
    assert text == "The data stored in a ConfigMap cannot exceed 1 MiB."
    proved = prove(text, PASSAGES, question=question)
    assert [claim.verdict for claim in proved.claims] == ["verified"]


@pytest.mark.parametrize(
    "question",
    [
        "Who won the 1998 football world cup?",
        "Why can the data stored in a ConfigMap not exceed 1 MiB?",
        "How many data is stored in a ConfigMap for larger settings?",
        "ConfigMap",
        "",
    ],
)
def test_no_sentence_is_quoted_that_only_repeats_or_misses_the_question(question: str) -> None:
    assert quoted_answer(question, PASSAGES) is None
