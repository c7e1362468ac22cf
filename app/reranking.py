"""Opens the reranker that the settings name. Knows all kinds; nothing else of the application does."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import assert_never

import httpx

from retrieval.rerankers.cross_encoder import CrossEncoderReranker
from retrieval.rerankers.learned import read_ranker
from retrieval.rerankers.protocol import Reranker
from retrieval.rerankers.remote import RemoteReranker
from retrieval.settings import RerankSettings


@contextmanager
def open_reranker(settings: RerankSettings) -> Generator[Reranker | None]:
    """The reranker of the settings, open as long as the context; None for ``none``. Loads no model yet.

    Raises:
        RerankFailed: The learned ranker of the package cannot be read.
    """
    match settings.kind:
        case "none":
            yield None
        case "learned":
            yield read_ranker()
        case "cross-encoder":
            yield CrossEncoderReranker(settings.model, batch_size=settings.batch_size, offline=settings.offline)
        case "url":
            key = settings.api_key.get_secret_value() if settings.api_key else None
            with httpx.Client() as client:
                yield RemoteReranker(
                    client, settings.url, model=settings.model, api_key=key, batch_size=settings.batch_size
                )
        case _:
            assert_never(settings.kind)
