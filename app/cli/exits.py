"""Exit codes, and what is said of an error: one sentence and a code (DESIGN 4.1)."""

from __future__ import annotations

import errno
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from app.errors import ApiProblem

DONE = 0
UNEXPECTED = 1
USAGE = 2
PARTIAL = 3
UNAVAILABLE = 4
ALTERED = 5
"""Of ``verify`` alone: the file is not as it was written."""
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells expect it."""


class Failure(NamedTuple):
    """How a command ends that could not do its work."""

    code: int
    sentence: str


def describe(error: BaseException) -> Failure | None:
    """Code and sentence for an error that was foreseen; None for one that was not."""
    if isinstance(error, BaseExceptionGroup):
        return describe(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    if isinstance(error, OSError):
        return _describe_os_error(error)
    from app.errors import ApiProblem

    if isinstance(error, ApiProblem):
        return Failure(_code_of_problem(error), _sentence(error))
    for kinds, code in _codes():
        if isinstance(error, kinds):
            return Failure(getattr(error, "exit_code", None) or code, _sentence(error))
    return None


def _sentence(error: BaseException) -> str:
    """The message as one line that begins and ends as a sentence; engines put their own words into ours."""
    text = " ".join(str(error).split())
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _code_of_problem(error: ApiProblem) -> int:
    if error.problem.status == HTTPStatus.TOO_MANY_REQUESTS:
        return UNAVAILABLE
    if error.problem.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return USAGE
    return UNEXPECTED if error.problem.code in ("internal_error", "http_error") else UNAVAILABLE


def _codes() -> list[tuple[tuple[type[Exception], ...], int]]:
    # Imported when something failed: these modules load half a second of libraries.
    from agents.errors import AgentError, ModelRefused
    from app.errors import (
        ApiUnreachable,
        AppError,
        DatabaseUnavailable,
        HomeLocked,
        HomeUnwritable,
        JobFailed,
        ModelHashMismatch,
        ModelPullFailed,
        NotFound,
        PortTaken,
        ProcessFailed,
        RequestInvalid,
        SettingsInvalid,
    )
    from ingestion.errors import CollectionUnknown, IngestionError
    from retrieval.errors import EmbeddingModelMismatch, RetrievalError
    from tools.errors import ServerUnavailable, ServerUnknown, ToolDefinitionInvalid

    usage = (
        SettingsInvalid,
        ModelHashMismatch,
        NotFound,
        RequestInvalid,
        CollectionUnknown,
        EmbeddingModelMismatch,
        ModelRefused,
        ServerUnknown,
        ToolDefinitionInvalid,
    )
    unavailable = (
        ApiUnreachable,
        DatabaseUnavailable,
        HomeLocked,
        HomeUnwritable,
        JobFailed,
        ModelPullFailed,
        PortTaken,
        ProcessFailed,
        RetrievalError,
        AgentError,
        ServerUnavailable,
    )
    return [(usage, USAGE), (unavailable, UNAVAILABLE), ((AppError, IngestionError), UNEXPECTED)]


def _describe_os_error(error: OSError) -> Failure | None:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Failure(UNAVAILABLE, f"No space is left for {_file_of(error)}; free some, or choose another --home.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Failure(UNAVAILABLE, f"Cannot write or read {_file_of(error)}: {error.strerror}; choose another --home.")
    return None


def _file_of(error: OSError) -> str:
    return repr(error.filename) if error.filename else "the home folder"
