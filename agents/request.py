"""What a run is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from agents.chat_model import ChatMessage, Sampling
from agents.earlier import EarlierPrompt
from agents.guidance import NO_GUIDANCE, Guidance
from agents.picture_record import GivenPicture
from retrieval.types import SearchFilter


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One question.

    Attributes:
        run_id: Names the run in every event.
        thread_id: Names the thread in every event.
        question: What the person wrote.
        history: Earlier turns of the thread, oldest first.
        earlier: The same as a model server has read it; None where nothing was kept of it.
        search_filter: What the search may see.
        sampling: How tokens are drawn; None takes the settings.
        model: Chat model that answers, by the name it has here; empty for the default one.
        output_schema: JSON Schema of the object that the answer is to be; None asks for prose.
        agent: Agent that acts on it; empty for an answer from documents alone.
        user: Who asks, for memory, approvals and the audit.
        attachments: Ids of the texts attached to the thread when it was asked.
        prompt: Prompt of an MCP server that the question was made from, ``SERVER/NAME``; its words are from outside.
        drop_filters: Names of filters that are read from the question's words and are not to act.
        guidance: What a preset tells the model.
        so_far: An answer to the question that was cut off and is to go on; empty for a new answer.
        replaces: Run of the thread whose place this one takes, for the log; empty for a new turn.
        continues: Run of the thread whose answer this one goes on with, for the log; empty for a new answer.
        pictures: Pictures beside the question.
        earlier_pictures: Pictures of earlier turns that go with it, the latest first.
    """

    run_id: str
    thread_id: str
    question: str
    history: tuple[ChatMessage, ...] = ()
    search_filter: SearchFilter = field(default_factory=SearchFilter)
    sampling: Sampling | None = None
    model: str = ""
    output_schema: Mapping[str, JsonValue] | None = None
    agent: str = ""
    user: str = "local"
    attachments: tuple[str, ...] = ()
    prompt: str = ""
    drop_filters: tuple[str, ...] = ()
    guidance: Guidance = NO_GUIDANCE
    so_far: str = ""
    replaces: str = ""
    continues: str = ""
    pictures: tuple[GivenPicture, ...] = ()
    earlier_pictures: tuple[GivenPicture, ...] = ()
    earlier: EarlierPrompt | None = None
