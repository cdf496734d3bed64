"""Spans, where OpenTelemetry is set up; and none where it is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from opentelemetry import trace

from holdfast.server import traces
from tests.serving import serving


class Kept:
    """A provider that keeps what is traced; the API alone has none that does."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any]]] = []

    def get_tracer(self, *args: Any, **more: Any) -> "Kept":
        return self

    @contextmanager
    def start_as_current_span(self, name: str) -> Iterator["Kept"]:
        self.spans.append((name, {}))
        yield self

    def set_attribute(self, name: str, value: Any) -> None:
        self.spans[-1][1][name] = value


def test_a_request_is_a_span_with_its_id(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: kept)
    monkeypatch.setattr(trace, "get_tracer", kept.get_tracer)
    with serving(url) as served:
        httpx2.get(f"{served.url}/v1/scopes/xylophone/stats", headers={"X-Request-Id": "r1"})
    told = {"holdfast.verb": "count", "holdfast.request_id": "r1"}
    assert kept.spans == [("holdfast count", told)]


def test_without_it_nothing_is_made() -> None:
    with traces.spans()("count", "r1") as nothing:
        assert nothing is None
