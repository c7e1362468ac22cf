"""Is a receipt file as it was written, and where not: by its own digests, before anything in it is believed. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, cast

from pydantic import JsonValue, ValidationError

from app.errors import ReceiptUnreadable
from app.receipts.digests import part_digests, whole_digest
from app.receipts.schema import FORMAT, Digests, Receipt

MAX_BYTES = 64 * 1024 * 1024
"""Far more than any answer with its evidence."""
_UNREADABLE = "is no receipt of Groundwork, or it was cut off; export it again."


@dataclass(frozen=True, slots=True)
class OpenedReceipt:
    """A receipt file.

    Attributes:
        raw: Its JSON as it stands in the file; what digests are computed from.
        receipt: The same as values; None where an alteration has left no receipt.
        altered: Paths of parts that are not as they were written (``claims/0``), in the order of the file.
        missing: Paths of parts that were there when it was written.
        digests_altered: Whether the digests themselves are not as they were written.
        whole: The digest that is signed.
    """

    raw: Mapping[str, JsonValue]
    receipt: Receipt | None
    altered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    digests_altered: bool = False
    whole: str = ""
    sentences: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    """Of each altered part, the places of the claims that rest on it."""


def open_receipt(data: bytes, *, name: str) -> OpenedReceipt:
    """A receipt from the bytes of its file.

    Args:
        data: The whole file.
        name: What the file is called in errors.

    Raises:
        ReceiptUnreadable: It is no receipt, or one of a kind that this version does not know.
    """
    raw = _parse(data, name)
    kind = raw.get("format")
    parts = part_digests(raw)
    listed, whole = _digests(raw)
    if kind != FORMAT and isinstance(kind, str) and listed.get("format") == parts.get("format"):
        raise ReceiptUnreadable(f"{name!r} is of the kind {kind!r}, which this version of Groundwork does not know.")
    is_whole = whole_digest(parts) == whole or not listed
    altered = tuple(path for path in parts if listed.get(path) != parts[path]) if not is_whole else ()
    missing = tuple(path for path in listed if path not in parts) if not is_whole else ()
    # The content is right and its digests are not, or the list of digests does not give the digest over all of it.
    digests_altered = listed != parts if is_whole else whole_digest(listed) != whole
    receipt = _receipt(raw)
    if receipt is None and not altered and not missing and not digests_altered and not _signature_broken(raw):
        raise ReceiptUnreadable(f"{name!r} {_UNREADABLE}")
    return OpenedReceipt(
        raw=raw,
        receipt=receipt,
        altered=altered,
        missing=missing,
        digests_altered=digests_altered,
        whole=whole,
        sentences={path: frozenset(_resting_on(path, raw)) for path in (*altered, *missing)},
    )


def _parse(data: bytes, name: str) -> Mapping[str, JsonValue]:
    if len(data) > MAX_BYTES:
        raise ReceiptUnreadable(f"{name!r} has more than {MAX_BYTES} bytes; no receipt is so large.")
    try:
        raw: object = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique_members, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise ReceiptUnreadable(f"{name!r} {_UNREADABLE}") from error
    if not isinstance(raw, dict) or "digests" not in raw:
        raise ReceiptUnreadable(f"{name!r} {_UNREADABLE}")
    return cast("dict[str, JsonValue]", raw)


def _unique_members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Of a member that stands twice, a reader would see one and a program the other."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member stands twice")
    return members


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _digests(raw: Mapping[str, JsonValue]) -> tuple[dict[str, str], str]:
    try:
        digests = Digests.model_validate(raw["digests"])
    except ValidationError:
        return {}, ""
    return digests.parts, digests.whole


def _receipt(raw: Mapping[str, JsonValue]) -> Receipt | None:
    try:
        return Receipt.model_validate(raw)
    except ValidationError:
        return None


def _signature_broken(raw: Mapping[str, JsonValue]) -> bool:
    """Whether the file would be a receipt with another signature."""
    return _receipt({**raw, "signature": {"public_key": "", "value": ""}}) is not None


def _resting_on(path: str, raw: Mapping[str, JsonValue]) -> set[int]:
    """Places of the claims that a part belongs to, or that quote it; the file may hold anything."""
    section, _, place = path.partition("/")
    if not place:
        return set()
    number = int(place)
    match section:
        case "claims":
            return {number}
        case "citations":
            return _citing(raw, {number})
        case "documents" | "texts":
            link = section.removesuffix("s")
            return _citing(raw, {at for at, entry in _entries(raw, "citations") if entry.get(link) == number})
        case "evidence":
            return _citing(raw, {at for at, entry in _entries(raw, "citations") if entry.get("passage") == number})
        case _:
            return set()


def _citing(raw: Mapping[str, JsonValue], citations: set[int]) -> set[int]:
    numbers = {place + 1 for place in citations}
    found: set[int] = set()
    for place, claim in _entries(raw, "claims"):
        cited = claim.get("citations")
        if isinstance(cited, list) and any(number in numbers for number in cited if isinstance(number, int)):
            found.add(place)
    return found


def _entries(raw: Mapping[str, JsonValue], section: str) -> list[tuple[int, Mapping[str, JsonValue]]]:
    entries = raw.get(section)
    if not isinstance(entries, list):
        return []
    return [(place, entry) for place, entry in enumerate(entries) if isinstance(entry, dict)]
