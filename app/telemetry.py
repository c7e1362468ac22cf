"""Sends spans to a collector by OTLP over HTTP, when the settings name one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from agents.request import AnswerRequest
from app.errors import SettingsInvalid
from app.settings import TelemetrySettings
from tools.spans import tracer

if TYPE_CHECKING:
    from opentelemetry.trace import Span


def run_span(request: AnswerRequest) -> AbstractContextManager[Span]:
    """The span of one attempt at a run, above those of its model and its tools; never what was asked."""
    agent = request.agent or "answer"
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": request.thread_id,
        "groundwork.run.id": request.run_id,
    }
    return tracer().start_as_current_span(f"invoke_agent {agent}", attributes=attributes)


@contextmanager
def telemetry(settings: TelemetrySettings) -> Generator[None]:
    """Spans are made and sent as long as the context is open; nothing happens without an address.

    Raises:
        SettingsInvalid: The extra is not installed.
    """
    if not settings.otlp_endpoint:
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsInvalid(
            "telemetry.otlp_endpoint needs the extra: pip install 'groundwork[otel]', or leave it empty."
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": settings.service_name}))
    exporter = OTLPSpanExporter(endpoint=settings.otlp_endpoint.rstrip("/") + "/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
