"""Logs as lines of JSON: what, when, for which request; never content, never keys."""

from __future__ import annotations

import json
import logging
import sys

TOLD = ("request", "verb", "status", "ms", "error")


class Lines(logging.Formatter):
    """One line of JSON for each thing logged."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
        }
        line |= {name: record.__dict__[name] for name in TOLD if name in record.__dict__}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def begin(level: int = logging.INFO) -> None:
    """Sends what is logged to standard error."""
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(Lines())
    for name in ("holdfast", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [stream], False
        logger.setLevel(level)
