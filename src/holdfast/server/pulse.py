"""How the server is: alive, ready, and its metrics."""

from __future__ import annotations

from holdfast.errors import HoldfastError
from holdfast.server import metrics
from holdfast.server.app import Endpoint
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.openapi import About
from holdfast.server.router import Router

TEXT = About(media=metrics.MEDIA, gives="text")


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    for path in ("/health", "/v1/health"):
        router.add("GET", path, Endpoint("health", health, keyless=True, quick=True))
    router.add("GET", "/ready", Endpoint("ready", ready, keyless=True))
    router.add("GET", "/metrics", Endpoint("metrics", measured, reads=True, about=TEXT))


def health(call: Call) -> Reply:
    """Alive."""
    return as_json({"status": "ok"})


def ready(call: Call) -> Reply:
    """The store can be written; how the embedder is; who may come in."""
    try:
        return as_json(call.host.ready())
    except HoldfastError as error:
        return as_json({"ready": False, "store": type(error).__name__}, 503)


def measured(call: Call) -> Reply:
    """Prometheus metrics of the whole store, for its owner."""
    call.caller.owns()
    return Reply(call.host.metrics.text(), media=metrics.MEDIA)
