"""Counters and histograms of one API, in a registry of its own; shown at ``/metrics``."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest

from app.schema import RunInfo
from ingestion.types import IngestReport

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """What is counted. Labels have few values: never an id, never text of a person."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.runs = Counter("groundwork_runs", "Runs that ended, by state.", ["state"], registry=self.registry)
        self.ttft_seconds = self._histogram("groundwork_ttft_seconds", "Start of a run to its first token.")
        self.retrieval_seconds = self._histogram("groundwork_retrieval_seconds", "Search part of a run.")
        self.tokens = Counter(
            "groundwork_tokens", "Tokens as the model server counts them, by kind.", ["kind"], registry=self.registry
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
            usage = run.answer.usage
            self.tokens.labels("prompt").inc(usage.prompt_tokens)
            self.tokens.labels("completion").inc(usage.completion_tokens)
            self.tokens.labels("cached").inc(usage.cached_tokens)
            self.retrieval_seconds.observe(run.answer.timings_ms.retrieve / 1000)

    def ingest_ended(self, report: IngestReport) -> None:
        """Count the files of an ingest."""
        for status, count in report.totals.items():
            self.ingest_files.labels(status).inc(count)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)

    def _histogram(self, name: str, documentation: str) -> Histogram:
        return Histogram(name, documentation, buckets=_SECONDS, registry=self.registry)
