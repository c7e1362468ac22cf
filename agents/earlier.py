"""The prompt of an earlier turn with its reply, word by word, so that a follow-up can stand behind it.

Knows no store and no log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.chat_model import ChatMessage
from agents.prompt_record import PromptMessage, PromptRecord
from agents.prompting import neutralise
from retrieval.types import Chunk


@dataclass(frozen=True, slots=True)
class EarlierPrompt:
    """The conversation as the model server has read it.

    Attributes:
        run_id: The newest run that is in it with its passages.
        messages: Questions with their passages, and replies, oldest first; the last one is a reply.
        passages: Number ``n`` in the messages is ``passages[n - 1]``.
    """

    run_id: str
    messages: tuple[ChatMessage, ...]
    passages: tuple[Chunk, ...]


def prompt_record(added: Sequence[ChatMessage], *, after: str = "") -> PromptRecord:
    """The record of a prompt that is about to be sent."""
    told = tuple(
        PromptMessage(role="user" if message.role == "user" else "assistant", content=message.content)
        for message in added
    )
    return PromptRecord(after=after, messages=told)


def sent_again(record: PromptRecord, *, shown: str) -> tuple[ChatMessage, ...]:
    """The record's messages and its reply, byte by byte where nothing of the reply was changed before it was shown.

    Args:
        record: Of the run.
        shown: The answer that the person saw, without marks; the model is not held to words that were taken back.
    """
    same = "".join(record.written.split()) == "".join(shown.split())
    return (
        *(ChatMessage(message.role, message.content) for message in record.messages),
        ChatMessage("assistant", neutralise(record.written if same else shown)),
    )
