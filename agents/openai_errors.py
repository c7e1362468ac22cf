"""Errors of the OpenAI wire as one sentence that names what to do."""

from __future__ import annotations

import aiohttp
import openai

from agents.errors import AgentError, ModelBusy, ModelRefused, ModelUnavailable

_MAX_DETAIL_CHARS = 300


def explain(error: openai.APIError | ValueError, *, model: str, connect_seconds: float) -> AgentError:
    """The error of this layer that says what ``error`` means for the caller."""
    if isinstance(error, openai.APITimeoutError) and _timed_out(error):
        return ModelUnavailable(
            f"The model server took no connection within {connect_seconds:g} s; check model.base_url and that it runs."
        )
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable(
            "The model server cannot be reached or broke off; check model.base_url and that the server runs."
        )
    if isinstance(error, openai.APIStatusError):
        return _explain_status(error, model=model)
    return ModelUnavailable(f"The model server sent something else than a chat reply ({_detail(error)}); see its log.")


def _timed_out(error: openai.APITimeoutError) -> bool:
    """Whether time ran out: the client's transport gives that name to a connection that was closed as well."""
    cause = error.__cause__.__cause__ if error.__cause__ else None
    return not isinstance(cause, aiohttp.ClientConnectionError) or isinstance(cause, aiohttp.ServerTimeoutError)


def _explain_status(error: openai.APIStatusError, *, model: str) -> AgentError:
    status = error.status_code
    if status in (401, 403):
        return ModelRefused(f"The model server refused the key (status {status}); check model.api_key.")
    if status == 404:
        return ModelRefused(
            f"The model server does not know the model {model!r} or the address (status 404); check model.name and"
            " model.base_url, which ends in /v1."
        )
    if status == 503:
        return ModelBusy("The model server is loading or overloaded (status 503); ask again in a moment.")
    if status == 429:
        return ModelBusy(f"The model server takes no more requests now (status 429): {_detail(error)}; ask again.")
    if status >= 500:
        return ModelUnavailable(f"The model server cannot answer now (status {status}): {_detail(error)}; ask again.")
    return ModelRefused(
        f"The model server rejected the request (status {status}): {_detail(error)}; check model.name and"
        " model.context_tokens."
    )


def _detail(error: Exception) -> str:
    return " ".join(str(error).split())[:_MAX_DETAIL_CHARS].rstrip(".")
