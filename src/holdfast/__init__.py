"""Holdfast: long-term memory for AI agents, in one file.

from holdfast import Memory

memory = Memory("autogen-assistant-user123")
memory.remember("Use PostgreSQL, not MongoDB, for the main store", kind="decision")
memory.recall("which database did we choose?")
"""

from holdfast.api.asynchronous import AsyncMemory
from holdfast.api.synchronous import Memory
from holdfast.context import block
from holdfast.errors import (
    Busy,
    Closed,
    Conflict,
    EmbedderFailed,
    EmbedderMismatch,
    ExtractorFailed,
    Forbidden,
    HoldfastError,
    Invalid,
    LimitReached,
    NotFound,
    RateLimited,
    Refused,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from holdfast.model import Hit, Recalled, Record, Remembered, Source, Weights

__version__ = "0.1.0"
__all__ = [
    "AsyncMemory",
    "Busy",
    "Closed",
    "Conflict",
    "EmbedderFailed",
    "EmbedderMismatch",
    "ExtractorFailed",
    "Forbidden",
    "Hit",
    "HoldfastError",
    "Invalid",
    "LimitReached",
    "Memory",
    "NotFound",
    "RateLimited",
    "Recalled",
    "Record",
    "Refused",
    "Remembered",
    "Source",
    "StoreBroken",
    "StoreFull",
    "StoreReadOnly",
    "StoreTooNew",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Weights",
    "block",
]
