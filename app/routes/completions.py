"""``/v1``: any client of OpenAI's API can use the grounded agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import JsonValue

from agents.answer import Answer
from agents.errors import AgentError, ModelUnknown
from agents.events import AnswerDone, RunCancelled, RunEvent, RunFailed
from app.actor import ActorDep
from app.asking import ask
from app.completion_pictures import keep_pictures
from app.completions import Conversation, Envelope, Failure, conversation, failure_problem
from app.errors import AppError
from app.openai_wire import (
    GROUNDED_MODEL,
    Completion,
    CompletionRequest,
    ModelCard,
    ModelCards,
    OpenAIErrorBody,
    SchemaFormat,
)
from app.problems import openai_error, render
from app.routes.platform import PlatformDep
from app.schema import RunInfo, RunRequest
from app.threads import new_thread
from app.wiring import Platform

_WORDS_BYTES = 2 * 1024 * 1024
"""Room for everything of a request but its pictures."""
_CLIENT_GONE = 499
"""Nobody reads this status; nginx' name for it is "client closed request"."""
_ERRORS: dict[int | str, dict[str, type[OpenAIErrorBody]]] = {
    status: {"model": OpenAIErrorBody} for status in (403, 404, 422, 429, 500, 502, 503, 504)
}


def build_router(*, max_picture_bytes: int) -> APIRouter:
    """All routes; a request is refused with 413 while it comes in when its pictures have more bytes in all."""
    router = APIRouter(prefix="/v1", tags=["openai"])
    router.add_api_route("/models", list_models, operation_id="list_models")
    router.add_api_route(
        "/chat/completions",
        create_completion,
        methods=["POST"],
        operation_id="create_completion",
        response_model=Completion,
        responses={**_ERRORS},
        max_body_size=_WORDS_BYTES + max_picture_bytes * 4 // 3,
    )
    return router


async def list_models(platform: PlatformDep) -> ModelCards:
    """Model names that ``/v1/chat/completions`` takes; all answer from the documents."""
    return ModelCards(data=tuple(ModelCard(id=name) for name in _model_names(platform)))


async def create_completion(
    request: CompletionRequest, platform: PlatformDep, connection: Request, user: ActorDep
) -> Response:
    """An answer from the documents, streamed as server-sent events or at once.

    The message, or the last piece of a stream, also carries ``citations``, ``claims`` and ``status``. When nothing
    supports an answer, the message says so. A client that leaves cancels the run.
    """
    if request.model not in _model_names(platform):
        raise ModelUnknown(f"There is no model {request.model!r}; use {GROUNDED_MODEL!r}.")
    conversed = conversation(request)
    asked = {
        "question": conversed.question,
        "collections": request.collections,
        "filter": request.filter,
        "output_schema": _output_schema(request),
        "preset": request.preset,
        "model": "" if request.model == GROUNDED_MODEL else request.model,
        "pictures": (),
    }
    longest = {"max_tokens": request.max_completion_tokens} if request.max_completion_tokens else {}
    run_request = RunRequest.model_validate(asked | request.chosen() | longest)
    run = await _start(platform, run_request, conversed, user=user)
    envelope = Envelope(
        id=f"chatcmpl-{run.run_id}",
        created=int(datetime.now(UTC).timestamp()),
        model=request.model,
        with_usage=bool(request.stream_options and request.stream_options.include_usage),
    )
    if request.stream:
        return StreamingResponse(_stream(platform, run, envelope), media_type="text/event-stream")
    return await _whole(platform, run, envelope, connection)


async def _start(platform: Platform, request: RunRequest, conversed: Conversation, *, user: str) -> RunInfo:
    """A run in a thread of its own; both are written together, but pictures need their thread before."""
    thread, history = new_thread(conversed.question), conversed.history
    if not (conversed.pictures or conversed.earlier_pictures):
        return await ask(platform, thread, request, history=history, user=user)
    await platform.threads.add(thread, origin="completion")
    try:
        kept = await keep_pictures(platform.attachments.pictures, thread.thread_id, conversed)
        request = request.model_copy(update={"pictures": kept.asked})
        return await ask(platform, thread.thread_id, request, history=history, earlier_pictures=kept.earlier, user=user)
    except (AppError, AgentError):
        await platform.threads.delete(thread.thread_id)
        raise


async def _whole(platform: Platform, run: RunInfo, envelope: Envelope, connection: Request) -> Response:
    outcome = asyncio.create_task(_outcome(await platform.runs.follow(run.run_id)))
    gone = asyncio.create_task(_client_gone(connection))
    try:
        await asyncio.wait([outcome, gone], return_when=asyncio.FIRST_COMPLETED)
        if not outcome.done():
            return Response(status_code=_CLIENT_GONE)
        result = outcome.result()
    finally:
        gone.cancel()
        outcome.cancel()
        platform.runs.request_cancel(run.run_id)
    if isinstance(result, Answer):
        return JSONResponse(envelope.whole(result).model_dump(mode="json"))
    return render(failure_problem(result), connection.url.path)


async def _outcome(events: AsyncGenerator[RunEvent]) -> Answer | Failure:
    answer: Answer | None = None
    async for event in events:
        if isinstance(event, AnswerDone):
            answer = event.answer
        elif isinstance(event, RunFailed | RunCancelled):
            return event
    assert answer is not None, "a finished run has an answer"
    return answer


async def _stream(platform: Platform, run: RunInfo, envelope: Envelope) -> AsyncGenerator[bytes]:
    try:
        async with aclosing(envelope.pieces(await platform.runs.follow(run.run_id))) as pieces:
            async for piece in pieces:
                if isinstance(piece, RunFailed | RunCancelled):
                    yield _data(json.dumps(openai_error(failure_problem(piece))))
                else:
                    yield _data(piece.model_dump_json(exclude_none=True))
        yield _data("[DONE]")
    finally:
        # Without effect on a run that has ended; otherwise the client has left.
        platform.runs.request_cancel(run.run_id)


async def _client_gone(connection: Request) -> None:
    while (await connection.receive())["type"] != "http.disconnect":
        pass


def _data(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def _output_schema(request: CompletionRequest) -> dict[str, JsonValue] | None:
    asked = request.response_format
    return asked.json_schema.schema_ if isinstance(asked, SchemaFormat) else None


def _model_names(platform: Platform) -> list[str]:
    return [GROUNDED_MODEL, *(endpoint.name for endpoint in platform.gateway.endpoints)]
