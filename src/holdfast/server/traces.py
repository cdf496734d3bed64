"""OpenTelemetry spans for requests, where it is installed; otherwise nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

trace: Any
try:
    from opentelemetry import trace
except ImportError:  # an extra
    trace = None

_nothing = nullcontext()


Span = Callable[[str, str], Any]


def spans() -> Span:
    """What makes a span around a request, as OpenTelemetry is set up now; or what does nothing."""
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return lambda verb, request: _nothing
    return _span


@contextmanager
def _span(verb: str, request: str) -> Iterator[None]:
    """A span with the verb and the id of a request, never its content."""
    tracer = trace.get_tracer("holdfast")
    with tracer.start_as_current_span(f"holdfast {verb}") as current:
        current.set_attribute("holdfast.verb", verb)
        current.set_attribute("holdfast.request_id", request)
        yield
