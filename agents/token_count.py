"""Counting the chat model's tokens: the server's ``/tokenize`` where it has one, else an upper estimate."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence

import openai
from openai import AsyncOpenAI
from pydantic import BaseModel

logger = logging.getLogger(__name__)

_AT_ONCE = 8
_KEPT = 2048
"""Counts that are remembered."""
_TIME_LIMIT_SECONDS = 10.0
_BORDER = -1
"""No token of any vocabulary; llama.cpp gives numbers between texts back as they are."""
_PIECE = re.compile(r"[A-Za-z]+|\s+|.", re.DOTALL)
_LETTERS_PER_TOKEN = 3
"""English words have 4 to 5 letters a token in current vocabularies, identifiers about 3."""
_TOKENS_PER_WIDE_CHARACTER = 2


class _Tokens(BaseModel):
    """The answer of ``/tokenize``: llama.cpp sends ``tokens``, vLLM ``count`` too."""

    tokens: list[int]


class TokenCounter:
    """Counts with the server until it turns out to have no tokenizer, and estimates from then on.

    Remembers the latest counts: instructions, passages and earlier turns come again and again.
    """

    def __init__(self, model: str, *, llama_cpp: Callable[[], bool] = lambda: False) -> None:
        """``llama_cpp`` says whether the server is known to be one, which counts many texts in one request."""
        self._model = model
        self._llama_cpp = llama_cpp
        self._asks_server = self._takes_many = True
        self._known: dict[str, int] = {}

    @property
    def asks_server(self) -> bool:
        """Whether the server is still asked."""
        return self._asks_server

    async def count(self, client: AsyncOpenAI | None, texts: Sequence[str]) -> list[int]:
        """Length of each text in tokens, special tokens not counted; through ``client`` where one is given."""
        if client and self._asks_server:
            counts = {text: self._known[text] for text in texts if text in self._known}
            missing = [text for text in dict.fromkeys(texts) if text not in counts]
            try:
                async with asyncio.timeout(_TIME_LIMIT_SECONDS):
                    counted = await self._counted(client, missing)
                counts |= zip(missing, counted, strict=True)
                self._keep(counts)
                return [counts[text] for text in texts]
            except openai.APIStatusError as error:
                self._asks_server = error.status_code >= 500
                logger.info("server has no tokenizer", extra={"status": error.status_code})
            except (openai.APIError, TimeoutError, ValueError) as error:
                logger.warning("tokens are estimated", extra={"error": type(error).__name__})
        return [estimate_tokens(text) for text in texts]

    def _keep(self, counts: dict[str, int]) -> None:
        self._known |= counts
        for oldest in list(self._known)[:-_KEPT]:
            del self._known[oldest]

    async def _counted(self, client: AsyncOpenAI, texts: Sequence[str]) -> list[int]:
        if self._takes_many and self._llama_cpp():
            try:
                return await self._together(client, texts)
            except openai.BadRequestError:  # an older one, which takes one text a request
                self._takes_many = False
        return await self._each(client, texts)

    async def _together(self, client: AsyncOpenAI, texts: Sequence[str]) -> list[int]:
        parts = [part for text in texts for part in (text, _BORDER)]
        counts = [0]
        for token in await self._tokens(client, {"content": parts}) if texts else ():
            if token == _BORDER:
                counts.append(0)
            else:
                counts[-1] += 1
        if counts.pop() or len(counts) != len(texts):
            raise ValueError("the server lost texts between their borders")
        return counts

    async def _each(self, client: AsyncOpenAI, texts: Sequence[str]) -> list[int]:
        at_once = asyncio.Semaphore(_AT_ONCE)

        async def count(text: str) -> int:
            # Both servers pass over the other's field: "content" is llama.cpp's, "prompt" and "model" are vLLM's.
            body = {"model": self._model, "prompt": text, "content": text, "add_special_tokens": False}
            async with at_once:
                return len(await self._tokens(client, body))

        return await asyncio.gather(*map(count, texts))

    async def _tokens(self, client: AsyncOpenAI, body: Mapping[str, object]) -> list[int]:
        url = str(client.base_url.join("/tokenize"))  # both servers have it at their root
        return _Tokens.model_validate(await client.post(url, body=body, cast_to=object)).tokens


def estimate_tokens(text: str) -> int:
    """More tokens than a current vocabulary makes of ``text``, in all but rare cases; 0 for no text."""
    return sum(_estimate(piece) for piece in _PIECE.findall(text))


def _estimate(piece: str) -> int:
    if piece == " ":
        return 0  # a single space belongs to the word behind it
    if piece.isascii():
        return math.ceil(len(piece) / _LETTERS_PER_TOKEN)
    return _TOKENS_PER_WIDE_CHARACTER
