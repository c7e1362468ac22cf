"""How the next token is drawn for one request."""

from __future__ import annotations

from agents.chat_model import Sampling
from agents.request import AnswerRequest
from agents.settings import AnswerSettings


def sampling_of(request: AnswerRequest, settings: AnswerSettings) -> Sampling:
    """The request's own sampling, else that of the settings."""
    return request.sampling or Sampling(temperature=settings.temperature, max_tokens=settings.max_tokens)
