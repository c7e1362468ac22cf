"""A follow-up question made self-contained for the search, without a model: words of the turns before join it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.chat_model import ChatMessage
from agents.markers import strip_markers
from agents.proof.evidence import content
from agents.proof.tokens import Token, tokenise

FEW_WORDS = 3
"""A question with fewer content words of its own leans on what was said before."""
SUMMARY_CHARACTERS = 300
"""Longest line about turns that no longer fit the prompt; a hundred tokens."""
MAX_BORROWED_ANSWER_WORDS = 8
"""Names and identifiers taken over from the last answer."""
_LEANS = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|one|ones|he|she|him|her|same|other|others|both|former|latter|"
    r"there|then|either|neither|such)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:and|but|so|or|what about|how about|why|also|then|ok|okay|yes|no|which one)\b", re.IGNORECASE
)


def standalone_query(question: str, history: Sequence[ChatMessage]) -> str:
    """What to search for: the question itself, or for a follow-up the question with the topic of the turns before."""
    earlier = [message for message in history if message.role == "user"]
    if not earlier or not leans_on_history(question):
        return question
    topics = [earlier[-1].content]
    if leans_on_history(topics[0]) and len(earlier) > 1:
        topics.insert(0, earlier[-2].content)
    known = {token.key for text in (question, *topics) for token in tokenise(text)}
    answers = [message for message in history if message.role == "assistant"]
    borrowed = _names(answers[-1].content, known) if answers else []
    return " ".join([*(topic.strip() for topic in topics), *borrowed, question.strip()])


def last_question(history: Sequence[ChatMessage]) -> str:
    """What the person asked before; empty at the beginning of a chat."""
    return next((message.content for message in reversed(history) if message.role == "user"), "")


def leans_on_history(question: str) -> bool:
    """Whether a question cannot be understood alone, by its pronouns, its opening, or for want of content words."""
    words = content(tokenise(question))
    if any(token.kind == "identifier" for token in words) and not _LEANS.search(question):
        return len(words) < FEW_WORDS and bool(_OPENS.match(question))
    return bool(_LEANS.search(question)) or bool(_OPENS.match(question)) or len(words) < FEW_WORDS


def _names(answer: str, known: set[str]) -> list[str]:
    text, _ = strip_markers(answer)
    found: dict[str, Token] = {}
    for token in content(tokenise(text)):
        if token.kind in ("name", "identifier") and token.key not in known:
            found.setdefault(token.key, token)
    return [token.text for token in found.values()][:MAX_BORROWED_ANSWER_WORDS]


def earlier_questions(dropped: Sequence[ChatMessage], *, max_characters: int) -> str:
    """What turns that left the prompt were about, in one line: their questions, the latest first; empty without any."""
    asked = [" ".join(message.content.split()) for message in reversed(dropped) if message.role == "user"]
    line = ""
    for question in asked:
        longer = f"{line}; {question}" if line else question
        if len(longer) > max_characters:
            break
        line = longer
    return f"Earlier in this chat the user asked: {line}" if line else ""
