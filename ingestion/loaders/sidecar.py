"""The file ``NAME.meta.yaml`` beside a document: metadata that a person gives it. Reads bytes, finds no files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import yaml

from ingestion.errors import LoadFailed
from ingestion.loaders.encoding import decode
from ingestion.loaders.front_matter import flat_metadata
from retrieval.types import MetadataValue

ENDING = ".meta.yaml"
_MAX_BYTES = 64_000


def read_sidecar(data: bytes) -> Mapping[str, MetadataValue]:
    """Metadata of a sidecar file; empty for an empty one.

    Args:
        data: YAML, one mapping of names to plain values or lists of plain values.

    Raises:
        LoadFailed: ``corrupt`` with a sentence that says what is wrong and where, ``undecodable``, or ``too_large``.
    """
    if len(data) > _MAX_BYTES:
        raise LoadFailed("too_large", f"The metadata file is larger than {_MAX_BYTES} bytes; keep it to a few lines.")
    text = decode(data).text if data else ""
    try:
        events = cast("Iterator[object]", yaml.parse(text, Loader=yaml.SafeLoader))
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise LoadFailed("corrupt", "The metadata file uses aliases (*name), which are not read; write values out.")
        parsed: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" in line {mark.line + 1}" if mark is not None else ""
        problem = error.problem or "it cannot be read"
        raise LoadFailed("corrupt", f"The metadata file is not valid YAML{place}: {problem}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise LoadFailed("corrupt", "The metadata file is not valid YAML; write one `name: value` a line.") from error
    if parsed is None:
        return {}
    if not isinstance(parsed, Mapping):
        raise LoadFailed("corrupt", "The metadata file must hold `name: value` lines, not a list or a single value.")
    values = cast("Mapping[object, object]", parsed)
    metadata = flat_metadata(values)
    if dropped := [str(key) for key, value in values.items() if value is not None and str(key) not in metadata]:
        names = ", ".join(repr(name) for name in dropped[:5])
        raise LoadFailed("corrupt", f"The metadata file has values that are no text, number or list of these: {names}.")
    return metadata
