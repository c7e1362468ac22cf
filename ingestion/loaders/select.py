"""Gives a file to the loader that is surest of it: what the bytes are comes first, the ending of the name second.

Every module of this folder that has a ``LOADER`` takes part; nothing is registered anywhere. Of loaders that are
equally sure the one that lists the file's ending wins, then the one whose module comes first by name. A general
container (zip, OLE, XML, JSON) claims a file with 2 and leaves 3 to the formats made of it. Knows no format itself.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import PurePath

from ingestion import loaders
from ingestion.errors import LoadFailed
from ingestion.loaders.language import with_language
from ingestion.loaders.loader import Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.unread import refuse_unread


@cache
def all_loaders() -> tuple[Loader, ...]:
    """The loaders of all formats, in the order of their modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(loaders.__path__))
    found = (getattr(import_module(f"{loaders.__name__}.{name}"), "LOADER", None) for name in names)
    return tuple(loader for loader in found if isinstance(loader, Loader))


def load(data: bytes, *, name: str, options: LoadOptions | None = None) -> Loaded:
    """What a file's bytes hold: a document, files inside it, or both.

    Args:
        data: The whole file.
        name: Its name; the ending decides between kinds of text, and the stem is a title of last resort.
        options: Choices that shape the result; None for the defaults.

    Raises:
        LoadFailed: With the reason for which the file cannot become text.
    """
    if not data:
        raise LoadFailed("empty", "The file is empty.")
    sample = Sample(data, PurePath(name).name or name)
    loader, certainty = surest(sample)
    if certainty < 2:
        refuse_unread(sample)
    try:
        loaded = loader.load(data, sample.name, options or LoadOptions())
    except LoadFailed as error:
        if error.reason == "undecodable" and certainty < 2:
            raise _what_it_is_instead(sample, error) from error
        raise
    if not isinstance(loaded, Loaded):
        loaded = Loaded(loaded)
    return loaded if loaded.document is None else Loaded(with_language(loaded.document), loaded.children)


def surest(sample: Sample) -> tuple[Loader, int]:
    """The loader that gets the file, and how sure it is.

    Raises:
        LoadFailed: ``unsupported_type`` when no loader wants the file.
    """
    claims = [(loader.certainty(sample), sample.ending in loader.endings, loader) for loader in all_loaders()]
    certainty, _, loader = max(claims, key=lambda claim: claim[:2])
    if certainty == 0:
        raise LoadFailed("unsupported_type", "This kind of file is not read; the documentation lists what is.")
    return loader, certainty


def _what_it_is_instead(sample: Sample, error: LoadFailed) -> LoadFailed:
    """The better reason for bytes that are no text: a broken file of the kind that its ending says, or data."""
    denied = any(sample.ending in loader.endings and not loader.certainty(sample) for loader in all_loaders())
    if denied:
        return LoadFailed("corrupt", f"The file ends in {sample.ending!r} but holds something else.")
    if b"\0" in sample.data:
        return LoadFailed("unsupported_type", "This kind of file (binary data) is not read.")
    return error
