"""Junk among what is learned: a sample of what today's rules learn of LoCoMo, labelled by reading.

`python -m benchmarks.junk > sample.txt` prints what has no label yet; put an x before each line
that is junk, and `python -m benchmarks.junk --take sample.txt` keeps the labels. Beside each is a
digest, for the words may not be shipped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

LABELS = Path(__file__).with_name("junk.json")
SAMPLE = 500
SEED = 1
MARK = "x"


def digest(content: str) -> str:
    """What stands for a memory whose words may not be shipped."""
    return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


def drawn(contents: Iterable[str], size: int = SAMPLE, seed: int = SEED) -> list[str]:
    """A random sample of the contents; most of it stays the same when the rules change a little.

    Each content has a random number of its own, made of its words and the seed, and the least win.
    """
    salt = str(seed).encode()
    lot = {it: hashlib.blake2b(it.encode(), key=salt).digest() for it in set(contents)}
    return sorted(lot, key=lot.__getitem__)[:size]


def labels() -> dict[str, bool]:
    """Which digests were found to be junk, and which not."""
    found: dict[str, bool] = json.loads(LABELS.read_text())
    return found


def share(contents: Iterable[str]) -> dict[str, Any]:
    """The share of junk in a sample of what is learned now, and how many of it have a label."""
    known, sample = labels(), drawn(contents)
    met = [known[it] for it in map(digest, sample) if it in known]
    junk = sum(met) / len(met) if met else None
    return {"sample": len(sample), "labelled": len(met), "share": junk}


def unlabelled(contents: Iterable[str], known: dict[str, bool]) -> Iterator[str]:
    """A line for each of the sample that nobody has read yet."""
    for content in contents:
        if digest(content) not in known:
            yield f"  {digest(content)}  {content}"


def taken(lines: Iterable[str]) -> dict[str, bool]:
    """The labels of lines as they were printed, some with a mark before them."""
    words = (line.split(maxsplit=2) for line in lines if line.strip())
    marked = [(it[1], True) if it[0] == MARK else (it[0], False) for it in words]
    return dict(marked)


def keep(found: dict[str, bool], sample: Sequence[str]) -> None:
    """Writes the labels of the sample, and no others."""
    known = labels() | found
    kept = {it: known[it] for it in sorted(map(digest, sample)) if it in known}
    LABELS.write_text(json.dumps(kept, indent=0) + "\n")


def learned(stores: Sequence[int] = ()) -> list[str]:
    """What the rules learn of LoCoMo, or of some of its conversations, by their numbers."""
    from benchmarks import corpora, learning
    from benchmarks.embedding import cached
    from holdfast import Memory

    found: list[str] = []
    with learning.opened(cached("minilm")) as backend:
        for number, instance in enumerate(corpora.load("locomo").instances):
            if not stores or number in stores:
                memory = Memory(instance.id, backend=backend)
                learning.extracted(memory, instance, "learnings")
                found += [one.content for one in learning.every(memory)]
    return found


def main() -> None:
    """Prints what has no label, or takes labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.junk", description=__doc__)
    parser.add_argument("--take", type=Path, help="a file of lines as printed, junk marked with x")
    parser.add_argument("--stores", default="", help="numbers of conversations, by comma")
    parser.add_argument("--size", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    stores = [int(number) for number in args.stores.split(",") if number]
    sample = drawn(learned(stores), args.size, args.seed)
    if args.take:
        keep(taken(args.take.read_text("utf-8").splitlines()), sample)
    else:
        print(*unlabelled(sample, labels()), sep="\n")


if __name__ == "__main__":
    main()
