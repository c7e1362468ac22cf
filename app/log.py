"""Logging of the process: one line a record, extra fields as ``key=value``. Handlers are set here alone."""

from __future__ import annotations

import json
import logging
import sys
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


def configure_logging(level: str, *, path: Path | None = None) -> None:
    """Send records of that level and above to a file, or to stderr; libraries speak from WARNING on."""
    handler = logging.FileHandler(path, encoding="utf-8", delay=True) if path else logging.StreamHandler(sys.stderr)
    handler.setFormatter(FieldFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for package in ("app", "agents", "ingestion", "retrieval", "tools"):
        logging.getLogger(package).setLevel(level)
