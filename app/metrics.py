"""Counters and histograms of one API, in a registry of its own; shown at ``/metrics``."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from agents.gateway.gateway import ModelGateway
from app.schema import RunInfo
from ingestion.types import IngestReport

_RATES = (1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """What is counted. Labels have few values: never an id, never text of a person."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.runs = Counter("groundwork_runs", "Runs that ended, by state.", ["state"], registry=self.registry)
        self.ttft_seconds = self._histogram("groundwork_ttft_seconds", "Start of a run to its first token.")
        self.retrieval_seconds = self._histogram("groundwork_retrieval_seconds", "Search part of a run.")
        self.run_seconds = self._histogram("groundwork_run_seconds", "A run that ended with an answer, start to end.")
        self.tokens = Counter(
            "groundwork_tokens",
            "Tokens as the model server counts them, by kind and model.",
            ["kind", "model"],
            registry=self.registry,
        )
        self.output_rate = Histogram(
            "groundwork_output_tokens_per_second",
            "Tokens of an answer per second, from the first to the last, by model.",
            ["model"],
            buckets=_RATES,
            registry=self.registry,
        )
        self.ingest_files = Counter(
            "groundwork_ingest_files", "Files of ended ingests, by status.", ["status"], registry=self.registry
        )
        self.http_requests = Counter(
            "groundwork_http_requests",
            "Answered requests, by method, route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )

    def run_ended(self, run: RunInfo) -> None:
        """Count a run; its answer holds the tokens and the search time."""
        self.runs.labels(run.state).inc()
        if run.answer is not None:
            usage, model, timings = run.answer.usage, run.answer.model, run.answer.timings_ms
            self.tokens.labels("prompt", model).inc(usage.prompt_tokens)
            self.tokens.labels("completion", model).inc(usage.completion_tokens)
            self.tokens.labels("cached", model).inc(usage.cached_tokens)
            self.retrieval_seconds.observe(timings.retrieve / 1000)
            self.run_seconds.observe(timings.total / 1000)
            if run.answer.tokens_per_second is not None:
                self.output_rate.labels(model).observe(run.answer.tokens_per_second)

    def watch(self, gateway: ModelGateway) -> None:
        """Show the state of each chat model as well, read when the figures are asked for."""
        self.registry.register(_ChatModels(gateway))

    def ingest_ended(self, report: IngestReport) -> None:
        """Count the files of an ingest."""
        for status, count in report.totals.items():
            self.ingest_files.labels(status).inc(count)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)

    def _histogram(self, name: str, documentation: str) -> Histogram:
        return Histogram(name, documentation, buckets=_SECONDS, registry=self.registry)


class _ChatModels(Collector):
    """Requests, failures and breakers of the gateway's endpoints."""

    def __init__(self, gateway: ModelGateway) -> None:
        self._gateway = gateway

    def collect(self) -> Iterator[Metric]:
        """One series of each kind a model."""
        running = GaugeMetricFamily("groundwork_model_requests_running", "Requests on their way.", labels=["model"])
        held_back = GaugeMetricFamily("groundwork_model_held_back", "1 while the breaker is open.", labels=["model"])
        requests = CounterMetricFamily("groundwork_model_requests", "Requests sent, by model.", labels=["model"])
        failures = CounterMetricFamily(
            "groundwork_model_failures", "Requests that failed, by model and reason.", labels=["model", "reason"]
        )
        for endpoint in self._gateway.endpoints:
            running.add_metric([endpoint.name], endpoint.running)
            held_back.add_metric([endpoint.name], endpoint.state == "held_back")
            requests.add_metric([endpoint.name], endpoint.requests)
            for reason, count in endpoint.failures.items():
                failures.add_metric([endpoint.name, reason], count)
        yield from (running, held_back, requests, failures)
