"""The command line: every verb of a memory for a person at a terminal, or for a script."""

from holdfast.cli import bench, demo, keys, learning, memories, serve, state, store
from holdfast.cli.app import app, main

__all__ = [
    "app",
    "bench",
    "demo",
    "keys",
    "learning",
    "main",
    "memories",
    "serve",
    "state",
    "store",
]
