"""Logs as lines of JSON: what, when, for which request; never content, never keys."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback

TOLD = ("request", "verb", "status", "ms", "error")
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


class Lines(logging.Formatter):
    """One line of JSON for each thing logged."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%SZ"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
        }
        line |= {name: record.__dict__[name] for name in TOLD if name in record.__dict__}
        if record.exc_info and record.exc_info[1]:
            line["trace"] = _trace(record.exc_info[1])
        return _ENCODER.encode(line)


def _trace(error: BaseException | None) -> str:
    """Where an error and its causes came from, without what they say: that may be content."""
    parts: list[str] = []
    while error is not None:
        parts[:0] = [*traceback.format_tb(error.__traceback__), f"{type(error).__qualname__}\n"]
        error = error.__cause__ or error.__context__
    return "".join(parts)


def begin(level: int = logging.INFO) -> None:
    """Sends what is logged to standard error."""
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(Lines())
    for name in ("holdfast", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [stream], False
        logger.setLevel(level)
