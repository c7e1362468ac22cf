"""What the served tools do, over the API's client. Knows no protocol; every result is a value of ``schema``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeAlias

from agents.answer import Answer
from app.client import ApiClient
from app.errors import DocumentUnknown, RequestInvalid
from app.mcp_server.schema import (
    DOCUMENT_URI,
    AskArguments,
    AskResult,
    Passage,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SearchResult,
)
from app.schema import RunRequest, ThreadCreate
from app.search_schema import SearchRequest
from ingestion.types import DocumentRecord

Report: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Told how many steps are done and what goes on."""


class Scope:
    """The collections that are shown; empty shows all."""

    def __init__(self, collections: tuple[str, ...]) -> None:
        self._collections = collections

    def narrow(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """The collections to look in; raises ``RequestInvalid`` for one that is not shown."""
        if not self._collections:
            return wanted
        hidden = sorted(set(wanted) - set(self._collections))
        if hidden:
            raise RequestInvalid(
                f"There is no collection {hidden[0]!r} here; there are: {', '.join(self._collections)}."
            )
        return wanted or self._collections

    def shows(self, record: DocumentRecord) -> bool:
        """Whether a document may be seen."""
        return not self._collections or record.collection in self._collections

    async def document(self, client: ApiClient, document_id: str) -> DocumentRecord:
        """A document that may be seen; raises ``DocumentUnknown`` for one of another collection."""
        record = await client.document(document_id)
        if not self.shows(record):
            raise DocumentUnknown(f"There is no document {document_id!r} here.")
        return record

    async def documents(self, client: ApiClient) -> list[DocumentRecord]:
        """Every document that can be read, in the ledger's order."""
        records = (await client.documents(status="ready")).documents
        return [record for record in records if self.shows(record)]


async def search(client: ApiClient, scope: Scope, arguments: SearchArguments) -> SearchResult:
    """Passages for a query."""
    # A client names collections itself, and the result has no place to tell a filter that was read from its words.
    request = SearchRequest(
        query=arguments.query,
        limit=arguments.limit,
        collections=scope.narrow(arguments.collections),
        read_filters=False,
    )
    hits = (await client.search(request)).hits
    fields = set(Passage.model_fields) - {"uri"}
    passages = [Passage(uri=document_uri(hit.document_id), **hit.model_dump(include=fields)) for hit in hits]
    return SearchResult(passages=passages)


async def read(client: ApiClient, scope: Scope, arguments: ReadArguments) -> ReadResult:
    """A piece of a document's stored text."""
    record = await scope.document(client, arguments.document_id)
    text = (await client.document_text(arguments.document_id)).text
    piece = text[arguments.start : arguments.start + arguments.max_chars]
    start = min(arguments.start, len(text))
    return ReadResult(
        document_id=record.document_id,
        title=record.title,
        source=record.source,
        text=piece,
        char_start=start,
        char_end=start + len(piece),
        total_chars=len(text),
    )


async def ask(client: ApiClient, scope: Scope, arguments: AskArguments, report: Report) -> AskResult:
    """A checked answer. The conversation is deleted afterwards: asking leaves nothing behind.

    A cancelled caller cancels the run.
    """
    request = RunRequest(question=arguments.question, collections=scope.narrow(arguments.collections))
    thread_id = (await client.create_thread(ThreadCreate())).thread_id
    run_id = ""
    try:
        run_id = (await client.start_run(thread_id, request)).run_id
        answer = await _answer(client, run_id, report)
    except asyncio.CancelledError:
        if run_id:
            await client.cancel_run(run_id)
        raise
    finally:
        await client.delete_thread(thread_id)
    return AskResult(
        status=answer.status, answer=answer.answer, claims=list(answer.claims), citations=list(answer.citations)
    )


def document_uri(document_id: str) -> str:
    """Address of a document as a resource."""
    return DOCUMENT_URI.format(document_id=document_id)


async def _answer(client: ApiClient, run_id: str, report: Report) -> Answer:
    answer, message, steps = None, "The run ended without an answer; see the log of the API.", 0
    async with aclosing(client.events(run_id)) as events:
        async for event in events:
            if event.type == "answer_done":
                answer = event.answer
            elif event.type == "run_failed":
                message = event.message
            elif event.type != "token":
                steps += 1
                await report(steps, event.type.replace("_", " "))
    return answer or Answer(status="failed", answer=message, run_id=run_id, thread_id="")
