"""The bytes of a store's files, searched for what should be gone, in every form we can think of."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.faults.embedders import VERSIONS, Dense
from benchmarks.faults.marks import LETTERS, first_mark
from holdfast.embed.guard import Guarded
from holdfast.text import fingerprint

TAIL = 10  # letters of a mark looked for: an index may keep a word without its common beginning
PIECE = slice(8, 40)  # bytes of a vector looked for: enough to be unique, and past any rounding


class Blind(Exception):
    """The search does not find even what is there: its silence would mean nothing."""


def files_of(store: Path) -> list[Path]:
    """The store's file and everything SQLite keeps beside it."""
    return sorted(file for file in store.parent.glob(f"{store.name}*") if file.is_file())


class Raw:
    """The bytes of some files."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._data = {file.name: file.read_bytes() for file in files}

    def __contains__(self, needle: bytes) -> bool:
        return any(needle in data for data in self._data.values())

    def where(self, needle: bytes) -> list[str]:
        """The files that hold these bytes."""
        return [name for name, data in self._data.items() if needle in data]

    def tails(self) -> set[str]:
        """Every run of letters as long as the tail of a mark, in one pass, in either case."""
        found: set[str] = set()
        letters = LETTERS + LETTERS.upper()
        runs = re.compile(f"[{letters}]{{{TAIL},}}".encode())
        for data in self._data.values():
            for run in runs.findall(data):
                word = run.decode().lower()
                found.update(word[i : i + TAIL] for i in range(len(word) - TAIL + 1))
        return found

    def marks(self, wanted: Iterable[str]) -> list[str]:
        """Those of the marks whose letters are in the files."""
        tails = self.tails()
        return [mark for mark in wanted if mark[-TAIL:] in tails]


def encoded(mark: str) -> Iterator[tuple[str, bytes]]:
    """The ways a word may hide that are not its letters in a row."""
    tail = mark[-TAIL:]
    yield "UTF-16", tail.encode("utf-16-le")
    yield "UTF-16, big end first", tail.encode("utf-16-be")
    yield "hex", tail.encode().hex().encode()
    yield "HEX", tail.encode().hex().upper().encode()
    yield "backwards", tail[::-1].encode()
    for shift in range(3):
        # Only the middle: the ends of base64 depend on what stands beside the word.
        coded = base64.b64encode(b"\0" * shift + mark.encode())
        yield f"base64 at {shift}", coded[4:-4]


def traces(text: str) -> Iterator[tuple[str, bytes]]:
    """What a store may derive from a text: its vectors and its fingerprint."""
    yield "fingerprint", fingerprint(text)
    for version in VERSIONS:
        vector = Guarded(Dense(version)).contents([text])[0][0]
        for form in ("<f2", "<f4", "<f8"):
            yield "vector", vector.astype(form).tobytes()[PIECE]


def remains(raw: Raw, marks: Sequence[str], texts: Sequence[str], live: Sequence[str]) -> list[str]:
    """What is left in the files of buried marks and texts; `live` texts prove that we can see."""
    _can_see(raw, live)
    found = [f"{mark} in its letters, in {raw.where(mark.encode())}" for mark in raw.marks(marks)]
    for text in texts:
        said = first_mark(text)
        found += [f"{said} as {form}" for form, needle in encoded(said) if needle in raw]
        found += [f"the {form} of {said}" for form, needle in traces(text) if needle in raw]
    return found


def _can_see(raw: Raw, live: Sequence[str]) -> None:
    if not live:
        return
    if not raw.marks([first_mark(text) for text in live]):
        raise Blind("not one mark of a memory that is there was found in the raw bytes")
    for kind in ("fingerprint", "vector"):
        seen = (needle in raw for text in live for form, needle in traces(text) if form == kind)
        if not any(seen):
            raise Blind(f"not one {kind} of a memory that is there was found in the raw bytes")
