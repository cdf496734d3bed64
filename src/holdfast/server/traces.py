"""OpenTelemetry spans for requests, where it is installed; otherwise nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

trace: Any
try:
    from opentelemetry import trace
except ImportError:  # an extra
    trace = None

_nothing = nullcontext()


def span(verb: str, request: str) -> Any:
    """A span around a request: its verb and id, never its content."""
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return _nothing
    return _span(verb, request)


@contextmanager
def _span(verb: str, request: str) -> Iterator[None]:
    tracer = trace.get_tracer("holdfast")
    with tracer.start_as_current_span(f"holdfast {verb}") as current:
        current.set_attribute("holdfast.verb", verb)
        current.set_attribute("holdfast.request_id", request)
        yield
