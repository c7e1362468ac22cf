"""A span for each request to a model, by OpenTelemetry's conventions for generative AI; without an SDK, nothing.

Names of attributes: OpenTelemetry semantic conventions, "Gen AI" spans. What was said is never in a span.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from agents.chat_model import ChatDelta, Sampling

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue


class ChatSpan:
    """One request, from its start to its last piece; a context manager that outlives the yields of a generator."""

    def __init__(self, model: str, provider: str, sampling: Sampling) -> None:
        from opentelemetry.trace import SpanKind

        from tools.spans import tracer

        given: dict[str, AttributeValue | None] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": sampling.max_tokens,
            "gen_ai.request.temperature": sampling.temperature,
            "gen_ai.request.top_p": sampling.top_p,
            "gen_ai.request.top_k": sampling.top_k,
            "gen_ai.request.seed": sampling.seed,
            "gen_ai.request.frequency_penalty": sampling.frequency_penalty,
            "gen_ai.request.presence_penalty": sampling.presence_penalty,
            "gen_ai.request.stop_sequences": sampling.stop or None,
            "gen_ai.output.type": "text" if sampling.output_schema is None else "json",
        }
        attributes = {name: value for name, value in given.items() if value is not None}
        # Not the current span: a generator may be left in another context than it was entered in.
        self._span = tracer().start_span(f"chat {model}", kind=SpanKind.CLIENT, attributes=attributes)
        self._begun = False

    def __enter__(self) -> ChatSpan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self._span.set_attribute("error.type", kind.__name__)
            if issubclass(kind, Exception):
                from opentelemetry.trace import StatusCode

                self._span.set_status(StatusCode.ERROR, str(error))
        self._span.end()

    def take(self, delta: ChatDelta) -> None:
        """Note what a piece of the reply says about the whole."""
        if not self._begun and (delta.text or delta.reasoning or delta.tool_requests):
            self._begun = True
            self._span.add_event("first_token")
        if delta.finish_reason:
            self._span.set_attribute("gen_ai.response.finish_reasons", [delta.finish_reason])
        if usage := delta.usage:
            self._span.set_attribute("gen_ai.usage.input_tokens", usage.prompt_tokens)
            self._span.set_attribute("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens)
            self._span.set_attribute("gen_ai.usage.output_tokens", usage.completion_tokens)
