"""Digests of a receipt: one for each of its parts, so that a change is not only seen but placed. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from tools.fingerprint import canonical_json

LISTS = ("claims", "citations", "evidence", "documents", "texts")
"""Members whose entries have a digest each; every other member has one."""
_NOT_COVERED = ("digests", "signature")
_CHAIN_START = hashlib.sha256(b"groundwork-events/1").hexdigest()


def digest(value: JsonValue) -> str:
    """SHA-256 of a value's canonical JSON: members sorted by name, no spaces, UTF-8."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def part_digests(receipt: Mapping[str, JsonValue]) -> dict[str, str]:
    """The digest of every part, by path (``question``, ``claims/0``); a part's digest covers its path."""
    parts: dict[str, str] = {}
    for name, value in receipt.items():
        if name in _NOT_COVERED:
            continue
        if name in LISTS and isinstance(value, list):
            parts |= {f"{name}/{place}": digest([f"{name}/{place}", entry]) for place, entry in enumerate(value)}
        else:
            parts[name] = digest([name, value])
    return parts


def whole_digest(parts: Mapping[str, str]) -> str:
    """The digest over all parts."""
    return digest(dict(parts))


def chain(events: Iterable[str]) -> str:
    """End of a hash chain over events as they are stored: each link is the SHA-256 of the link before and an event."""
    link = _CHAIN_START
    for event in events:
        link = hashlib.sha256(f"{link}\n{event}".encode("utf-8", "surrogatepass")).hexdigest()
    return link
