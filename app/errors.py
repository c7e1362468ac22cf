"""Errors of the application layer.

AppError
├── SettingsInvalid    operator: a setting is unknown or does not fit
├── HomeLocked         caller: another process has this home open
├── HomeUnwritable     operator: the home folder cannot be written, or the disk is full
├── ModelPullFailed    infrastructure: a model could not be downloaded
├── ModelHashMismatch  operator: a model file is not the one that was pinned
├── PortTaken          operator: a port is in use or may not be bound
├── ProcessFailed      infrastructure: a child process does not start or does not stay up
├── JobFailed          infrastructure: a background ingest failed as a whole
├── DatabaseUnavailable  infrastructure: the database cannot be opened or reached
├── NotFound           caller: nothing of that id exists
│   ├── ThreadUnknown, RunUnknown, DocumentUnknown, JobUnknown, QuestionUnknown, OriginalMissing, PresetUnknown
│   └── EvalUnknown, EvalQuestionUnknown
├── EvalHalted         infrastructure: an evaluation cannot go on with its next question
├── RunActive          caller: the thread has a run that has not ended
├── LimitReached       caller: the user has asked for as much as is allowed now; ``retry_after`` says when to ask again
│   └── UserBusy, TokensSpent
├── RunUnanswered      caller: the run has no answer
├── ToolNotOffered     caller: the tool's server is down or was taken away, so nothing can be checked against it
├── UserUnknown        caller: the proxy names no user for a decision
├── TokenRefused       caller: the home's local token is missing or wrong
├── ApiUnreachable     infrastructure: the API does not answer
├── ApiProblem         caller: the API answered with a problem document
└── RequestInvalid     caller: the request cannot be carried out as written
    └── ReindexRefused, ReceiptUnreadable, AttachmentRefused, ModelBlind, PresetInvalid
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.schema import Problem


class AppError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class SettingsInvalid(AppError):
    """A configuration file, variable or option is unknown or does not fit."""


class HomeLocked(AppError):
    """Another process has this home open."""


class HomeUnwritable(AppError):
    """The home folder cannot be created or written."""


class ModelPullFailed(AppError):
    """No source delivered the model."""


class ModelHashMismatch(AppError):
    """A file's size or SHA-256 differs from the pinned one."""


class PortTaken(AppError):
    """A port that Groundwork should listen on cannot be bound."""


class ProcessFailed(AppError):
    """A child process does not start or does not stay up."""

    def __init__(self, message: str, *, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        """Exit code of the process when it ended before it was ready."""


class NotFound(AppError):
    """Nothing of that id exists."""


class EvalHalted(AppError):
    """An evaluation cannot go on: what its next question needs is not there."""


class RequestInvalid(AppError):
    """The request cannot be carried out as written."""


class ReindexRefused(RequestInvalid):
    """There is nothing to embed anew, or nothing to go back to."""


class ReceiptUnreadable(RequestInvalid):
    """A file is no receipt, or one of a kind that this version cannot check."""


class JobFailed(AppError):
    """A background ingest failed as a whole; the message is its error."""


class DatabaseUnavailable(AppError):
    """The database cannot be opened, reached or written."""


class AttachmentUnknown(NotFound):
    """No text of that id is attached to the thread."""


class AttachmentRefused(RequestInvalid):
    """What should be attached is no text, holds none, or is too large."""


class ModelBlind(RequestInvalid):
    """The model is given nothing of a picture: it does not see, or has no room, and no words were read from it."""


class ThreadUnknown(NotFound):
    """No thread of that id."""


class RunUnknown(NotFound):
    """No run of that id."""


class DocumentUnknown(NotFound):
    """No document of that id."""


class EvalUnknown(NotFound):
    """No evaluation of that id."""


class EvalQuestionUnknown(NotFound):
    """No question of that id was kept."""


class PresetUnknown(NotFound):
    """No preset of that name, or no such version of it."""


class PresetInvalid(RequestInvalid):
    """A preset cannot be saved or taken as written."""


class JobUnknown(NotFound):
    """No ingest job of that id since the API started."""


class QuestionUnknown(NotFound):
    """No open question of that id: it was answered, or its call has ended."""


class OriginalMissing(NotFound):
    """The file that a document was made of is not there, or another one than it was."""


class RunActive(AppError):
    """The thread has a run that has not ended; wait for it or cancel it."""


class LimitReached(AppError):
    """The user has asked for as much as is allowed now."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds after which asking again may help."""


class UserBusy(LimitReached):
    """As many answers as allowed are on their way for the user."""


class TokensSpent(LimitReached):
    """The user's tokens of this day are used up."""


class RunUnanswered(AppError):
    """The run has no answer: it goes on, failed, or was stopped."""


class ToolNotOffered(AppError):
    """The tool is not on offer now, so its schema and risk are not known."""


class UserUnknown(AppError):
    """People are named by a proxy, and the request names none that can be believed."""


class TokenRefused(AppError):
    """The request needs the home's local token."""


class ApiUnreachable(AppError):
    """The API does not answer at its address."""


class ApiProblem(AppError):
    """The API refused a request or failed on it; ``problem`` is its own account."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem
