"""A question in, events out: answers from documents alone. One terminal event, whatever happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from time import perf_counter
from typing import cast

from agents.attachments import NO_ATTACHMENTS, Attachments
from agents.chat_model import ChatModel
from agents.closing import closing
from agents.drafts import Draft
from agents.event_stream import UNEXPECTED, event_of, failed_event, stamps_of
from agents.events import AnswerDone, RunEvent, RunFailed, RunFinished, RunStarted
from agents.graph import build_graph
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.state import AnswerState, Context, PassageSearch, SearchedIndex


class Answerer:
    """Answers questions one run at a time or many at once; holds nothing between runs."""

    def __init__(
        self,
        *,
        retriever: PassageSearch,
        chat_model: ChatModel,
        settings: AnswerSettings,
        attachments: Attachments = NO_ATTACHMENTS,
        choose_model: Callable[[str], ChatModel] | None = None,
        index: SearchedIndex | None = None,
    ) -> None:
        """``chat_model`` answers all requests unless ``choose_model`` finds one by the name in the request."""
        self._attachments = attachments
        self._choose_model = choose_model
        self._index = index
        self._retriever = retriever
        self._chat_model = chat_model
        self._settings = settings
        self._graph = build_graph()

    def context(self, request: AnswerRequest) -> Context:
        """What the nodes work with in a run that starts now."""
        model = self._choose_model(request.model) if self._choose_model else self._chat_model
        return Context(
            self._retriever,
            model,
            self._settings,
            perf_counter(),
            self._attachments,
            store=self._index.store if self._index else None,
            embedder=self._index.embedder if self._index else None,
        )

    async def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events of one run, ``seq`` from 1, the last one terminal.

        Closing the generator or cancelling its task stops search and model; then there is no terminal event, the
        caller writes ``run_cancelled``.
        """
        stamps = stamps_of(request)
        context = self.context(request)
        yield RunStarted(**stamps.next(), question=request.question, model=context.chat_model.name)
        parts = self._graph.astream(AnswerState(request), context=context, stream_mode="custom", version="v2")
        status = None
        try:
            async with closing(parts) as drafts:
                async for part in drafts:
                    event = event_of(cast(Draft, part["data"]), stamps.next())
                    if isinstance(event, AnswerDone):
                        status = event.answer.status
                    yield event
        except Exception as error:  # noqa: BLE001  # a run never ends without its event
            yield failed_event(error, stamps.next())
            return
        if status == "answered" or status == "abstained":
            yield RunFinished(**stamps.next(), status=status)
        else:
            yield RunFailed(**stamps.next(), kind="internal_error", message=UNEXPECTED)
