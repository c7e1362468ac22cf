"""Errors of the application layer.

AppError
├── SettingsInvalid    operator: a setting is unknown or does not fit
├── HomeLocked         caller: another process has this home open
├── HomeUnwritable     operator: the home folder cannot be written, or the disk is full
├── ModelPullFailed    infrastructure: a model could not be downloaded
├── ModelHashMismatch  operator: a model file is not the one that was pinned
├── PortTaken          operator: a port is in use or may not be bound
├── ProcessFailed      infrastructure: a child process does not start or does not stay up
├── NotFound           caller: no thread, run, document or job of that id
└── RequestInvalid     caller: the request cannot be carried out as written
"""


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


class RequestInvalid(AppError):
    """The request cannot be carried out as written."""
