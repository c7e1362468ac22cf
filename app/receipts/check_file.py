"""The whole check of a receipt file: opened, its sources looked up, its signature compared, reported on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.receipts import signing
from app.receipts.file_sources import from_files
from app.receipts.integrity import OpenedReceipt, open_receipt
from app.receipts.report import KeyCheck, VerifyReport
from app.receipts.schema import Signature
from app.receipts.sources import FoundSources
from app.receipts.store_sources import from_store
from app.receipts.verify import verify
from ingestion.settings import IngestionSettings

if TYPE_CHECKING:
    from app.client import ApiClient


async def check_against_store(client: ApiClient, file: Path, *, home_key: str | None, key: str = "") -> VerifyReport:
    """The report on a receipt against a home.

    Args:
        client: The API of the home.
        file: The receipt.
        home_key: Public key of the home; None where it has none.
        key: Public key that must have signed; empty for any.

    Raises:
        ReceiptUnreadable: The file is no receipt.
    """
    opened = open_receipt(await asyncio.to_thread(file.read_bytes), name=file.name)
    sources = FoundSources("store", ())
    if opened.receipt is not None:
        sources = await from_store(client, opened.receipt)
    return await asyncio.to_thread(verify, opened, sources, _whose(opened, home_key, key))


def check_against_files(
    places: Sequence[Path], file: Path, settings: IngestionSettings, *, home_key: str | None, key: str = ""
) -> VerifyReport:
    """The same against original files, with nothing but them."""
    opened = open_receipt(file.read_bytes(), name=file.name)
    sources = FoundSources("originals", ())
    if opened.receipt is not None:
        sources = from_files(places, opened.receipt, settings)
    return verify(opened, sources, _whose(opened, home_key, key))


def _whose(opened: OpenedReceipt, home_key: str | None, key: str) -> KeyCheck:
    raw = opened.raw.get("signature")
    values = raw if isinstance(raw, dict) else {}
    public_key, value = str(values.get("public_key", "")), str(values.get("value", ""))
    is_known = values.get("algorithm") == "ed25519" and set(values) == {"algorithm", "public_key", "value"}
    valid = is_known and signing.is_valid(Signature(public_key=public_key, value=value), opened.whole)
    if key:
        holder = "given_key" if key.strip().lower() == public_key else "other"
    else:
        holder = "this_home" if home_key is not None and home_key == public_key else "unknown"
    return KeyCheck(public_key=public_key, valid=valid, holder=holder)
