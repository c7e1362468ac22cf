"""Objects of an S3-compatible bucket as files, through s3fs; blocks, so call it off the event loop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from ingestion.ignoring import IgnoreRules
from ingestion.settings import RemoteSettings
from ingestion.sources import Source
from ingestion.types import FailureReason, FileOutcome

if TYPE_CHECKING:
    from fsspec.spec import AbstractFileSystem

_MISSING_EXTRA = "Buckets need the extra s3: pip install 'groundwork[s3]'."


@dataclass(frozen=True, slots=True)
class BucketListing:
    """Objects under a prefix; ``whole`` when none may be missing."""

    sources: tuple[Source, ...]
    failures: tuple[FileOutcome, ...]
    whole: bool


def fetch_bucket(
    address: str, *, folder: Path, settings: RemoteSettings, max_file_bytes: int, rules: IgnoreRules
) -> BucketListing:
    """Take the objects under ``s3://bucket/prefix`` into a folder.

    Access keys come from the environment and files that AWS tools read (``AWS_ACCESS_KEY_ID``, profiles, roles).

    Args:
        address: A bucket, a folder in it, or one object.
        folder: For the files; made if missing.
        settings: Endpoint and limits.
        max_file_bytes: Larger objects fail with ``too_large``.
        rules: Which keys are left out; hidden ones always are. Their root is ``/``, the prefix.
    """
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from s3fs import S3FileSystem
    except ImportError:
        return _failed(address, "unsupported_type", _MISSING_EXTRA)
    try:
        files = cast(
            "AbstractFileSystem",
            S3FileSystem(
                endpoint_url=settings.s3_endpoint_url or None, use_listings_cache=False, skip_instance_cache=True
            ),
        )
        return _take(files, address, _Limits(folder, settings, max_file_bytes, rules))
    except FileNotFoundError:
        return _failed(address, "not_found", "There is no such bucket or object.")
    except (OSError, BotoCoreError, ClientError, ValueError) as error:
        return _failed(address, "fetch_failed", f"The bucket cannot be read ({error}).")


@dataclass(frozen=True, slots=True)
class _Limits:
    folder: Path
    settings: RemoteSettings
    max_file_bytes: int
    rules: IgnoreRules


def _take(files: AbstractFileSystem, address: str, limits: _Limits) -> BucketListing:
    limits.folder.mkdir(parents=True, exist_ok=True)
    prefix = address.removeprefix("s3://").rstrip("/")
    listed = cast("dict[str, dict[str, Any]]", files.find(prefix, detail=True))
    if not listed:
        return _failed(address, "not_found", "There is nothing under this address of the bucket.")
    sources: list[Source] = []
    failures: list[FileOutcome] = []
    total = 0
    for key, entry in sorted(listed.items()):
        source, size = f"s3://{key}", int(entry.get("size") or 0)
        if key.endswith("/") or _left_out(key, prefix, limits.rules):
            continue
        total += size
        if size > limits.max_file_bytes or total > limits.settings.max_total_bytes:
            total -= size
            failures.append(
                _failure(source, "too_large", "The object is larger than the limits of the settings allow.")
            )
            continue
        if len(sources) == limits.settings.max_files:
            detail = f"More than {len(sources)} objects; the first are taken (remote.max_files)."
            failures.append(_failure(address, "too_large", detail))
            return BucketListing(tuple(sources), tuple(failures), whole=False)
        path = limits.folder / str(len(sources))
        try:
            files.get_file(key, str(path))
        except OSError as error:
            failures.append(_failure(source, "fetch_failed", f"The object cannot be read ({error})."))
        else:
            sources.append(Source(source, path))
    return BucketListing(tuple(sources), tuple(failures), whole=True)


def _left_out(key: str, prefix: str, rules: IgnoreRules) -> bool:
    relative = PurePosixPath(key.removeprefix(prefix).lstrip("/"))
    return any(part.startswith(".") for part in relative.parts) or rules.leaves_out(rules.root / relative)


def _failed(address: str, reason: FailureReason, detail: str) -> BucketListing:
    return BucketListing((), (_failure(address, reason, detail),), whole=False)


def _failure(source: str, reason: FailureReason, detail: str) -> FileOutcome:
    return FileOutcome(source=source, status="failed", reason=reason, detail=detail)
