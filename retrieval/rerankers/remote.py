"""Rerankers behind a URL: ``POST /rerank`` in the shape of Jina, Cohere and vLLM."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval.candidates import Candidate
from retrieval.errors import RerankFailed, RerankTimedOut
from retrieval.rerankers.protocol import RerankScore
from retrieval.types import index_text


class _Scored(BaseModel):
    """One line of an answer; servers add fields of their own."""

    model_config = ConfigDict(extra="ignore")

    index: int = Field(ge=0)
    relevance_score: float


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_Scored]


@dataclass(frozen=True, slots=True)
class RemoteReranker:
    """A ``Reranker`` that asks a server; made with a client that its maker closes.

    Attributes:
        client: Sends the requests.
        url: The whole address, such as ``http://127.0.0.1:8001/v1/rerank``.
        model: Model that the server is asked for.
        api_key: Sent as a bearer token where it is given.
        batch_size: Passages in one request.
    """

    client: httpx.Client
    url: str
    model: str
    api_key: str | None = None
    batch_size: int = 64

    @property
    def name(self) -> str:
        """Kind and model."""
        return f"url {self.model}"

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:
        """The server's scores, in the order of the candidates."""
        deadline = time.monotonic() + seconds
        texts = [index_text(candidate.chunk) for candidate in candidates]
        scores: list[float] = []
        for start in range(0, len(texts), self.batch_size):
            scores += self._ask(query, texts[start : start + self.batch_size], deadline=deadline)
        return [RerankScore(score) for score in scores]

    def _ask(self, query: str, texts: list[str], *, deadline: float) -> list[float]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._timed_out()
        body = {"model": self.model, "query": query, "documents": texts, "top_n": len(texts), "return_documents": False}
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            with self.client.stream("POST", self.url, json=body, headers=headers, timeout=left) as response:
                response.raise_for_status()
                content = b""
                for part in response.iter_bytes():
                    content += part
                    # The client's own limit is for each wait; a server that drips would never reach it.
                    if time.monotonic() >= deadline:
                        raise self._timed_out()
        except httpx.TimeoutException as error:
            raise self._timed_out() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RerankFailed(
                f"the reranker at {self.url!r} failed: {error}; is search.rerank.url right, and the server running?"
            ) from error
        return self._read(content, len(texts))

    def _read(self, content: bytes, wanted: int) -> list[float]:
        try:
            answer = _Answer.model_validate_json(content)
        except ValidationError as error:
            raise RerankFailed(
                f"the reranker at {self.url!r} did not answer with results; search.rerank.url must be its rerank route"
            ) from error
        scores = {scored.index: scored.relevance_score for scored in answer.results}
        if scores.keys() != set(range(wanted)) or not all(map(math.isfinite, scores.values())):
            raise RerankFailed(f"the reranker at {self.url!r} scored {len(scores)} of {wanted} passages")
        return [scores[index] for index in range(wanted)]

    def _timed_out(self) -> RerankTimedOut:
        return RerankTimedOut(
            f"the reranker at {self.url!r} did not answer in time; raise search.rerank.timeout_seconds, or lower"
            " search.pool"
        )
