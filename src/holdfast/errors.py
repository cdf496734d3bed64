"""Everything that can go wrong, drawn as one tree.

HoldfastError
├── Invalid                 400  the call cannot be right; nothing was done
│   ├── TooLarge            413  a limit of size was passed
│   └── Refused             422  the scope's policy does not take such a writing
├── Unauthenticated         401  no key, or not one that is known
├── LimitReached            402  what the tenant may keep is used up; nothing was done
├── Forbidden               403  the key is known, and may not do this
├── NotFound                404  no such memory, state key or scope here
├── Conflict                409  true of the call, but not of what is stored
│   └── EmbedderMismatch    409  the store was filled by another embedder
├── RateLimited             429  too many calls in too short a time; nothing was done
├── Unavailable             503  try again later; nothing was done
│   ├── Busy                503  another writer held the store for too long
│   ├── EmbedderFailed      503  the embedder did not answer, or not with vectors
│   └── ExtractorFailed     503  the language model did not answer, or not with learnings
├── StoreFull               507  no room on the disk; nothing was done
├── StoreReadOnly           500  the file or its folder cannot be written
├── StoreBroken             500  not a Holdfast store, or a damaged one
│   └── StoreTooNew         500  written by a newer Holdfast
└── Closed                  500  this Memory was closed

Each class knows its HTTP `status` and whether a later `retry` of the same call can succeed.
Each error carries `advice`, one sentence on what to do, and `retry_after`, seconds, where known.
"""

from __future__ import annotations


class HoldfastError(Exception):
    """Any failure of Holdfast."""

    status = 500
    retry = False

    def __init__(self, message: str, advice: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class Invalid(HoldfastError):
    """The call cannot be right; nothing was done."""

    status = 400


class TooLarge(Invalid):
    """A limit of size was passed; nothing was done."""

    status = 413


class Refused(Invalid):
    """The scope's policy does not take such a writing; nothing was done."""

    status = 422


class Unauthenticated(HoldfastError):
    """No key was given, or not one that is known; nothing was done."""

    status = 401


class LimitReached(HoldfastError):
    """What the tenant may keep is used up; nothing was done."""

    status = 402


class Forbidden(HoldfastError):
    """The key is known, and may not do this; nothing was done."""

    status = 403


class NotFound(HoldfastError):
    """No such memory, state key or scope here."""

    status = 404


class Conflict(HoldfastError):
    """True of the call, but not of what is stored; nothing was done."""

    status = 409


class EmbedderMismatch(Conflict):
    """The store was filled by another embedder."""


class RateLimited(HoldfastError):
    """Too many calls in too short a time; nothing was done."""

    status = 429
    retry = True


class Unavailable(HoldfastError):
    """Try again later; nothing was done."""

    status = 503
    retry = True


class Busy(Unavailable):
    """Another writer held the store for too long; nothing was done."""


class EmbedderFailed(Unavailable):
    """The embedder did not answer, or not with vectors."""


class ExtractorFailed(Unavailable):
    """The language model did not answer, or not with learnings."""


class StoreFull(HoldfastError):
    """No room on the disk; nothing was done."""

    status = 507


class StoreReadOnly(HoldfastError):
    """The file or its folder cannot be written."""


class StoreBroken(HoldfastError):
    """Not a Holdfast store, or a damaged one."""


class StoreTooNew(StoreBroken):
    """The store was written by a newer Holdfast."""


class Closed(HoldfastError):
    """This Memory was closed."""
