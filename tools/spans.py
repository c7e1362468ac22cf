"""The one tracer of the platform; OpenTelemetry is loaded with the first span, which a search has none of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


def tracer() -> Tracer:
    """Makes spans; without a provider they are thrown away."""
    from opentelemetry import trace

    return trace.get_tracer("groundwork")
