"""Moving house: a whole store into another one, of whichever engine, while it is in use.

Each place is compared by digest and copied, whole or not at all, if it differs; that is done again
until nothing differs. So a move that was broken off goes on where it stopped, what was written
meanwhile is copied too, and the end is a proof that both are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.engine import Engine, Place
from holdfast.engine.house import SCOPED, WHOLE, House, Line, Opened
from holdfast.errors import Busy, Conflict, EmbedderMismatch

PAGE = 500  # memories at a time
ROUNDS = 20  # then the store is written to faster than it is copied
MARK = Place(" moving", "from")  # in the new store until it is whole; no tenant begins so

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved, and the digest that both stores have."""

    places: int
    memories: int
    copied: int  # places that were copied, now; the others were there already
    digest: str


def move(source: Engine, target: Engine, name: str, tell: Tell = lambda done, of: None) -> Moved:
    """Copies a store into a new one, and proves it; `name` tells this move from others."""
    old, new = source.house(), target.house()
    _must_be_ours(old, new, name)
    _take_space(source, target)
    copied = 0
    for _ in range(ROUNDS):
        changed = _round(old, new, tell)
        if not changed:
            break
        copied += changed
    else:
        raise Busy(
            "The store is written to faster than it is copied.",
            "Let writers rest, then run it again: it goes on where it stopped.",
        )
    _clear(new, MARK)
    places = _places(new)
    whole = hashlib.sha256("".join(_digest(new, place) for place in _in_order(places)).encode())
    return Moved(len(places), sum(places.values()), copied, whole.hexdigest())


def _in_order(places: dict[Place, int]) -> list[Place]:
    """Places in one order, whichever engine names them."""
    return sorted(places, key=lambda place: (place.tenant, place.scope))


def _places(house: House) -> dict[Place, int]:
    return {place: count for place, count in house.look(lambda it: it.places()) if place != MARK}


def _must_be_ours(old: House, new: House, name: str) -> None:
    """Makes sure that nothing is overwritten but what an earlier run of this move wrote."""
    mark = [(hashlib.sha256(name.encode()).hexdigest(),)]
    held = new.look(lambda it: it.table(MARK, "policies"))
    if held == mark:
        return
    theirs = _places(new)
    same = all(_digest(old, place) == _digest(new, place) for place in theirs)
    if held or (theirs and not same):
        raise Conflict(
            "The new store holds other memories.", "Move into one that is empty, or was begun so."
        )
    new.settle(lambda it: it.add_table(MARK, "policies", mark))


def _take_space(source: Engine, target: Engine) -> None:
    space = source.space()
    if space is not None and (held := target.claim(space)) != space:
        raise EmbedderMismatch(
            f"The new store holds vectors of {held}, not of {space}.", "Move into an empty one."
        )


def _round(old: House, new: House, tell: Tell) -> int:
    """Copies each place that differs; gives how many did, the books of a server counted as one."""
    places, changed, done = _places(old), 0, 0
    total = sum(places.values())
    for place in _in_order(places):
        if _digest(old, place) != _digest(new, place):
            _copy(old, new, place)
            changed += 1
        done += places[place]
        tell(done, total)
    for gone in _places(new).keys() - places.keys():
        _clear(new, gone)
        changed += 1
    return changed + _books(old, new)


def _books(old: House, new: House) -> int:
    """Copies the books of a server where they differ; 1 if any did."""
    return max(int(_book(old, new, name)) for name in WHOLE)


def _book(old: House, new: House, name: str) -> bool:
    theirs = old.look(lambda house: house.whole(name))
    if theirs == new.look(lambda house: house.whole(name)):
        return False
    new.settle(lambda house: house.replace_whole(name, theirs))
    return True


def _clear(house: House, place: Place) -> None:
    house.settle(lambda it: it.clear(place))


def _copy(old: House, new: House, place: Place) -> None:
    """Copies a place out of one snapshot, in one transaction."""

    def write(into: Opened, out: Opened) -> None:
        into.clear(place)
        for lines in _pages(out, place):
            into.add_memories(place, lines)
        for name in SCOPED:
            into.add_table(place, name, out.table(place, name))

    old.look(lambda out: new.settle(lambda into: write(into, out)))


def _pages(house: Opened, place: Place) -> Iterator[list[Line]]:
    after = 0
    while found := house.memories(place, after, PAGE):
        after = found[-1][0]
        yield [line for _, line in found]


def _digest(house: House, place: Place) -> str:
    """What stands for all that a place holds."""

    def work(it: Opened) -> str:
        state = hashlib.sha256()
        for lines in _pages(it, place):
            for line in lines:
                state.update(repr(line).encode())
        for name in SCOPED:
            for line in it.table(place, name):
                state.update(f"{name} {line!r}".encode())
        return state.hexdigest()

    return house.look(work)
