"""OpenAPI and the readable page."""

from __future__ import annotations

from holdfast.server.app import Endpoint
from holdfast.server.router import Router


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
