from __future__ import annotations

import pytest

from agents.chat_model import ChatMessage
from agents.history import earlier_questions, leans_on_history, standalone_query

HISTORY = (
    ChatMessage("user", "What does it mean when a container is OOMKilled?"),
    ChatMessage("assistant", "It used more memory than its limit, see MemoryPressure. [1]"),
)


@pytest.mark.parametrize(
    "question",
    ["And which exit code goes with it?", "Why?", "What about the other one?", "How can I skip that waiting time?"],
)
def test_follow_up_takes_the_topic_over(question: str) -> None:
    query = standalone_query(question, HISTORY)
    assert "OOMKilled" in query
    assert "MemoryPressure" in query
    assert query.endswith(question)
    assert "[1]" not in query


@pytest.mark.parametrize(
    "question",
    [
        "Which port range does Kubernetes use for NodePort Services?",
        "Why did my pod restart? Last termination reason: OOMKilled",
    ],
)
def test_full_question_is_searched_as_it_is(question: str) -> None:
    assert standalone_query(question, HISTORY) == question


def test_first_question_is_never_rewritten() -> None:
    assert standalone_query("Why?", ()) == "Why?"


def test_follow_up_of_a_follow_up_reaches_back() -> None:
    history = (*HISTORY, ChatMessage("user", "And which exit code?"), ChatMessage("assistant", "137."))
    assert "OOMKilled" in standalone_query("Is it the same on Windows?", history)


def test_pronoun_leans_on_history() -> None:
    assert leans_on_history("How is it rounded?")
    assert not leans_on_history("How is maxSurge of a Deployment rounded?")


def test_turns_that_do_not_fit_are_named_by_their_questions_latest_first() -> None:
    turns = [
        ChatMessage("user", "What is a pod?"),
        ChatMessage("assistant", "A pod."),
        ChatMessage("user", "And a job?"),
    ]
    assert earlier_questions(turns, max_characters=300) == (
        "Earlier in this chat the user asked: And a job?; What is a pod?"
    )
    assert earlier_questions(turns, max_characters=12) == "Earlier in this chat the user asked: And a job?"
    assert earlier_questions([], max_characters=300) == ""
