"""Logging of the process: one line a record, extra fields as ``key=value``. Handlers are set here alone."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message", "taskName"}


class FieldFormatter(logging.Formatter):
    """Time, level, logger and message, then the fields that were passed as ``extra``."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line without traceback."""
        fields = (
            f" {key}={json.dumps(value, ensure_ascii=False, default=str)}"
            for key, value in record.__dict__.items()
            if key not in _STANDARD
        )
        return super().formatMessage(record) + "".join(fields)


def configure_logging(level: str) -> None:
    """Send records of that level and above to stderr; libraries speak from WARNING on."""
    _send(logging.StreamHandler(sys.stderr), level)


@contextmanager
def logging_to(path: Path, level: str) -> Generator[None]:
    """Send records to a file as long as the context; then the handlers of before are back and the file is closed."""
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    root = logging.getLogger()
    before = list(root.handlers)
    _send(handler, level)
    try:
        yield
    finally:
        root.handlers[:] = before
        handler.close()


def _send(handler: logging.Handler, level: str) -> None:
    handler.setFormatter(FieldFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for package in ("app", "agents", "ingestion", "retrieval", "tools"):
        logging.getLogger(package).setLevel(level)
