"""Errors as RFC 9457 problem details."""

from __future__ import annotations

import math
from typing import Any

from holdfast import errors
from holdfast.errors import HoldfastError
from holdfast.server.limits import RateUsedUp

MEDIA = "application/problem+json"
PREFIX = "urn:holdfast:error:"
SEE = "See /docs for what this path takes."


def problem(error: HoldfastError, status: int, request: str) -> dict[str, Any]:
    """What a client is told: what is wrong, what to do, whether to try again."""
    kind = next(it for it in type(error).__mro__ if it.__module__ == errors.__name__)
    return {
        "type": PREFIX + kind.__name__,
        "title": (type(error).__doc__ or "").partition("\n")[0],
        "status": status,
        "detail": error.message,
        "advice": error.advice or (SEE if status == 400 else ""),
        "retry": error.retry,
        "request_id": request,
    }


def headers(error: HoldfastError) -> list[tuple[str, str]]:
    """The headers that go with an error."""
    found = []
    if error.retry_after is not None or error.status == 503:
        wait = str(max(1, math.ceil(error.retry_after or 1)))
        found.append(("retry-after", wait))
        if isinstance(error, RateUsedUp):
            found.append(("ratelimit-limit", str(error.burst)))
            found += [("ratelimit-remaining", "0"), ("ratelimit-reset", wait)]
    if error.status == 401:
        found.append(("www-authenticate", 'Bearer realm="holdfast"'))
    if error.status == 405:
        found.append(("allow", ", ".join(getattr(error, "allowed", ()))))
    return found
