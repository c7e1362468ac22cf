"""Every error as a document: RFC 9457 problem documents, and OpenAI's error shape under ``/v1``.

The one table from error classes to status and code; texts are those of the errors, never a traceback.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from agents.errors import (
    AgentError,
    AgentUnknown,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnknown,
    SchemaInvalid,
)
from app.errors import (
    AppError,
    AttachmentRefused,
    AttachmentUnknown,
    DatabaseUnavailable,
    DocumentUnknown,
    EvalQuestionUnknown,
    EvalUnknown,
    HomeUnwritable,
    JobUnknown,
    LimitReached,
    ModelBlind,
    OriginalMissing,
    PresetInvalid,
    PresetUnknown,
    QuestionUnknown,
    RequestInvalid,
    RunActive,
    RunUnanswered,
    RunUnknown,
    ThreadUnknown,
    TokenRefused,
    TokensSpent,
    ToolNotOffered,
    UserBusy,
    UserUnknown,
)
from app.schema import Problem, ProblemCode
from ingestion.errors import CollectionUnknown, IngestionError, LedgerUnavailable, PageUnknown
from retrieval.errors import EmbeddingFailed, ModelFilesMissing, RetrievalError, StoreUnavailable
from tools.errors import (
    ArgumentsChanged,
    ArgumentsInvalid,
    CallExpired,
    CallUnknown,
    DecisionConflict,
    FactInvalid,
    FactUnknown,
    GrantNotAllowed,
    GrantUnknown,
    MemoryFull,
    ReviewStale,
    ServerUnavailable,
    ServerUnknown,
    ToolsError,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


class _Kind(NamedTuple):
    status: int
    code: ProblemCode


_INTERNAL = _Kind(500, "internal_error")
_KINDS: dict[type[Exception], _Kind] = {
    ThreadUnknown: _Kind(404, "thread_unknown"),
    RunUnknown: _Kind(404, "run_unknown"),
    AttachmentUnknown: _Kind(404, "attachment_unknown"),
    AttachmentRefused: _Kind(422, "attachment_refused"),
    ModelBlind: _Kind(422, "model_blind"),
    DocumentUnknown: _Kind(404, "document_unknown"),
    JobUnknown: _Kind(404, "job_unknown"),
    CollectionUnknown: _Kind(404, "collection_unknown"),
    QuestionUnknown: _Kind(404, "question_unknown"),
    OriginalMissing: _Kind(404, "original_missing"),
    PageUnknown: _Kind(404, "page_unknown"),
    ModelUnknown: _Kind(404, "model_unknown"),
    EvalUnknown: _Kind(404, "eval_unknown"),
    EvalQuestionUnknown: _Kind(404, "eval_unknown"),
    AgentUnknown: _Kind(404, "agent_unknown"),
    PresetUnknown: _Kind(404, "preset_unknown"),
    PresetInvalid: _Kind(422, "preset_invalid"),
    RunActive: _Kind(409, "run_active"),
    RunUnanswered: _Kind(409, "run_unanswered"),
    UserBusy: _Kind(429, "user_busy"),
    TokensSpent: _Kind(429, "tokens_spent"),
    CallUnknown: _Kind(404, "approval_unknown"),
    GrantUnknown: _Kind(404, "grant_unknown"),
    FactUnknown: _Kind(404, "fact_unknown"),
    ServerUnknown: _Kind(404, "tool_unknown"),
    ReviewStale: _Kind(409, "review_stale"),
    ServerUnavailable: _Kind(503, "tool_server_unavailable"),
    DecisionConflict: _Kind(409, "approval_decided"),
    CallExpired: _Kind(409, "approval_expired"),
    ArgumentsChanged: _Kind(409, "arguments_changed"),
    ToolNotOffered: _Kind(409, "tool_not_offered"),
    ArgumentsInvalid: _Kind(422, "arguments_invalid"),
    GrantNotAllowed: _Kind(422, "grant_refused"),
    RequestInvalid: _Kind(422, "request_invalid"),
    FactInvalid: _Kind(422, "request_invalid"),
    MemoryFull: _Kind(409, "memory_full"),
    UserUnknown: _Kind(403, "user_unknown"),
    TokenRefused: _Kind(403, "token_refused"),
    HomeUnwritable: _Kind(507, "home_unwritable"),
    DatabaseUnavailable: _Kind(503, "database_unavailable"),
    LedgerUnavailable: _Kind(503, "database_unavailable"),
    StoreUnavailable: _Kind(503, "store_unavailable"),
    EmbeddingFailed: _Kind(503, "embedding_failed"),
    ModelFilesMissing: _Kind(503, "model_unavailable"),
    ModelUnavailable: _Kind(503, "model_unavailable"),
    ModelTimeout: _Kind(504, "model_timeout"),
    ModelRefused: _Kind(502, "model_error"),
    SchemaInvalid: _Kind(422, "schema_invalid"),
}
_HTTP_CODES: dict[int, ProblemCode] = {
    400: "request_invalid",
    404: "route_unknown",
    405: "method_not_allowed",
    413: "too_large",
    422: "request_invalid",
}
DETAILS: dict[int, str] = {
    404: "Nothing is at this address; /openapi.json lists all addresses.",
    405: "This address does not take that method; /openapi.json lists the methods.",
    413: "The request is larger than allowed; send fewer or smaller files, or raise [server] max_upload_bytes.",
}
"""What is said of errors that the framework raises."""


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of this application with a document."""
    for base in (AppError, AgentError, IngestionError, RetrievalError, ToolsError):
        app.add_exception_handler(base, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(SQLAlchemyError, _database)
    app.add_exception_handler(Exception, _unexpected)


def problem(status: int, code: ProblemCode, detail: str) -> Problem:
    """A problem document with the standard title of its status."""
    return Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, code=code)


def render(document: Problem, path: str) -> JSONResponse:
    """The response for an error under that path."""
    if path.startswith("/v1/"):
        return JSONResponse(openai_error(document), status_code=document.status)
    return JSONResponse(document.model_dump(), status_code=document.status, media_type=MEDIA_TYPE)


def openai_error(document: Problem) -> dict[str, dict[str, str | None]]:
    """The same error as clients of OpenAI's API expect it."""
    kind = "invalid_request_error" if document.status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    param = "model" if document.code == "model_unknown" else None
    code = "model_not_found" if document.code == "model_unknown" else document.code
    return {"error": {"message": document.detail, "type": kind, "param": param, "code": code}}


async def _known(request: Request, error: Exception) -> JSONResponse:
    kind = next((_KINDS[cls] for cls in type(error).__mro__ if cls in _KINDS), _INTERNAL)
    if kind.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.warning("Request failed", extra={"path": request.url.path, "code": kind.code}, exc_info=error)
    response = render(problem(kind.status, kind.code, str(error)), request.url.path)
    if isinstance(error, LimitReached):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    detail = f"{where or 'The body'}: {first['msg'].removeprefix('Value error, ')}."
    return render(problem(422, "request_invalid", detail), request.url.path)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    detail = DETAILS.get(error.status_code, str(error.detail))
    document = problem(error.status_code, _HTTP_CODES.get(error.status_code, "http_error"), detail)
    response = render(document, request.url.path)
    response.headers.update(error.headers or {})
    return response


async def _database(request: Request, error: Exception) -> JSONResponse:
    logger.error("Database failed", extra={"path": request.url.path}, exc_info=error)
    detail = "The database does not answer; check its server, the free disk space, and the log."
    return render(problem(503, "database_unavailable", detail), request.url.path)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error("Unexpected error", extra={"path": request.url.path}, exc_info=error)
    return render(problem(500, "internal_error", "Groundwork failed on this request; see its log."), request.url.path)
