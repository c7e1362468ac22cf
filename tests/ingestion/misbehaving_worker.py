"""The child process of ``ingestion/workers.py`` with one more loader, for files that say what it should do."""

from __future__ import annotations

import ctypes
import os
import time

from ingestion import parse_worker
from ingestion.loaders import select
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.types import ParsedDocument

_ENDING = ".bad"
_hoard: list[bytearray] = []


def _certainty(sample: Sample) -> Certainty:
    return 3 if sample.ending == _ENDING else 0


def _load(data: bytes, name: str, options: LoadOptions) -> ParsedDocument:
    match data:
        case b"hang":
            time.sleep(3600)
        case b"eat":
            while True:
                _hoard.append(bytearray(16 * 1024 * 1024))
        case b"crash":
            ctypes.string_at(0)
        case b"exit":
            os._exit(3)
        case _:
            raise RecursionError("too deep")
    raise AssertionError


BAD = Loader("bad", frozenset((_ENDING,)), _certainty, _load)


def main() -> None:
    """Answer tasks, with one more loader."""
    real = select.all_loaders()
    select.all_loaders = lambda: (*real, BAD)
    parse_worker.main()
