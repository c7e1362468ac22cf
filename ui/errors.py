"""Errors of the UI layer.

UiError
├── ApiUnreachable  infrastructure: the API does not answer; may be retried
└── ApiRefused      caller: the API answered with a problem document
"""


class UiError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class ApiUnreachable(UiError):
    """The API does not answer, or not with what its contract says."""


class ApiRefused(UiError):
    """The API refused the request; ``code`` is the problem's closed, machine-readable reason."""

    def __init__(self, detail: str, *, status: int, code: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
