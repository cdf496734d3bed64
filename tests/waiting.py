"""Waiting for what another thread or process does: as long as it takes, within reason."""

import time
from collections.abc import Callable
from typing import Any

import pytest


def until(check: Callable[[], Any], told: Callable[[], Any] = lambda: "it never came") -> None:
    """Asks again and again until the answer is yes; a minute is enough on any machine."""
    give_up = time.monotonic() + 60
    while not check():
        if time.monotonic() > give_up:
            pytest.fail(str(told()))
        time.sleep(0.02)
