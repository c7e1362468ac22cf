"""Spans as a collector receives them, and the figures of chat models at /metrics."""

from __future__ import annotations

import gzip

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.settings import Settings, TelemetrySettings
from tests.app.model_stub import ModelStub, refusal, words
from tests.app.model_world import ANSWER, QUESTION, ask, events_of, opened
from tests.ui.servers import serve


class Collector:
    """Keeps the spans that it is sent."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.bytes = b""

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/traces", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.bytes += body
        sent = ExportTraceServiceRequest.FromString(body)
        self.spans += [span for part in sent.resource_spans for scope in part.scope_spans for span in scope.spans]
        return Response(b"", media_type="application/x-protobuf")

    def named(self, name: str) -> Span:
        """The one span of that name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span


def attributes(span: Span) -> dict[str, object]:
    values = {item.key: item.value for item in span.attributes}
    return {key: getattr(value, value.WhichOneof("value") or "string_value") for key, value in values.items()}


async def test_a_run_is_a_trace_without_its_words(settings: Settings) -> None:
    collector = Collector()
    with serve(collector.app) as served:
        given = settings.model_copy(update={"telemetry": TelemetrySettings(otlp_endpoint=served.address)})
        async with opened(given, ModelStub([words(ANSWER)])) as (platform, http):
            await events_of(platform, await ask(http, temperature=0.25))
        # The last spans are sent when the platform closes.

    run, chat = collector.named("invoke_agent answer"), collector.named("chat main")
    told = attributes(chat)
    assert chat.parent_span_id == run.span_id
    assert told["gen_ai.request.temperature"] == 0.25
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (40, 8)
    assert told["gen_ai.usage.cache_read.input_tokens"] == 30
    assert [event.name for event in chat.events] == ["first_token"]
    assert QUESTION.encode() not in collector.bytes
    assert b"OOMKilled" not in collector.bytes


async def test_metrics_show_each_model(settings: Settings) -> None:
    main, other = ModelStub([refusal(500)]), ModelStub([words(ANSWER)])
    async with opened(settings, main, other, fallback=True) as (platform, http):
        await events_of(platform, await ask(http))
        text = (await http.get("/metrics")).text

    assert 'groundwork_model_failures_total{model="main",reason="unavailable"} 1.0' in text
    assert 'groundwork_model_requests_total{model="other"} 1.0' in text
    assert 'groundwork_model_requests_running{model="other"} 0.0' in text
    assert 'groundwork_model_held_back{model="main"} 0.0' in text
    assert 'groundwork_tokens_total{kind="cached",model="other"} 30.0' in text
