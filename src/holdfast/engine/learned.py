"""How memories hang together, as rows: links, tellings, slots, what was heard, what is held."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.engine import Place
from holdfast.engine.columns import moment, stamp
from holdfast.model import Record, Source
from holdfast.slots import Slot, index, of_anything, things


class Learned:
    """The part of an engine's rows that learning reads and writes, by named statements."""

    _policies: dict[Place, str | None]  # as read in this transaction

    def scope(self, place: Place) -> Any:
        """What a place is called in statements."""
        raise NotImplementedError

    def _make_scope(self, place: Place) -> Any:
        raise NotImplementedError

    def _one(self, name: str, *values: Any) -> Any:
        raise NotImplementedError

    def _all(self, name: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _do(self, name: str, *values: Any) -> Any:
        raise NotImplementedError

    def _policy(self, place: Place) -> str | None:
        raise NotImplementedError

    def _record(self, row: Any, scope: str) -> Record:
        raise NotImplementedError

    def _many(self, values: Sequence[str]) -> Any:
        """Values as one value of a statement."""
        return json.dumps(list(values))

    def versions(self, place: Place, id: str) -> list[Record]:
        """Every version of a memory."""
        raise NotImplementedError

    # --- slots ---

    def unslotted(self, place: Place, limit: int) -> list[tuple[int, Record]]:
        """Memories whose slots were not read yet, each with its row, oldest first."""
        scope = self.scope(place)
        reached = self._one("slotted", scope)
        found = self._all("rows_to_slot", scope, reached[0] if reached else 0, min(limit, 2**31))
        return [(row["row"], self._record(row, place.scope)) for row in found]

    def slot(self, place: Place, row: int, id: str, slots: Sequence[Slot]) -> None:
        """Writes what a memory says of whom; all rows up to this one are done."""
        scope = self.scope(place)
        for who, attribute, thing in index(slots):
            self._do("add_slot", scope, id, who, attribute, thing)
        self._do("reach_slots", scope, row)

    def unindexed(self, place: Place, told: Mapping[str, Sequence[Slot]]) -> set[str]:
        """Those of some memories, by their ids, that say something which is not indexed."""
        found = self._all("slots_of", self.scope(place), self._many(list(told)))
        known = {(row[0], row[1], row[2], row[3]) for row in found}
        # Of two values for one who and attribute the later one is kept.
        said = {
            (id, who, attribute): thing for id in told for who, attribute, thing in index(told[id])
        }
        rows = ((key[0], *map(self._slot_text, (*key[1:], thing))) for key, thing in said.items())
        return {row[0] for row in rows if row not in known}

    def _slot_text(self, words: str) -> Any:
        """Words of a slot as a column holds them."""
        return words

    def alike(self, place: Place, slots: Sequence[Slot]) -> list[Record]:
        """Current memories that say something of the same who and attribute, or of the same."""
        scope, ids = self.scope(place), dict[str, None]()
        for slot in slots:
            found = [
                row for thing in things(slot) for row in self._all("slots_holding", scope, thing)
            ]
            if slot.topic is None and not of_anything(slot):
                found += self._all("slots_like", scope, slot.who, slot.attribute)
            ids |= dict.fromkeys(row[0] for row in found)
        last = [self.versions(place, id)[-1:] for id in ids]
        return [record for some in last for record in some if record.until is None]

    # --- links and tellings ---

    def link(self, place: Place, id: str, relation: str, other: str) -> None:
        """Links a memory to another."""
        self._do("add_link", self.scope(place), id, relation, other)

    def unlink(self, place: Place, id: str, relation: str, other: str) -> None:
        """Takes a link away."""
        self._do("drop_link", self.scope(place), id, relation, other)

    def links(self, place: Place, id: str, relation: str) -> list[str]:
        """The memories that a memory is linked to."""
        return [row[0] for row in self._all("links_of", self.scope(place), id, relation)]

    def linked(self, place: Place, other: str, relation: str) -> list[str]:
        """The memories that are linked to a memory."""
        return [row[0] for row in self._all("links_to", self.scope(place), other, relation)]

    def any_links(self, place: Place) -> bool:
        """Whether any memory here is linked to another."""
        return self._one("any_link", self.scope(place)) is not None

    def any_avoid(self, place: Place) -> bool:
        """Whether any memory here says what to avoid."""
        return self._one("any_avoid", self.scope(place)) is not None

    def replaced(self, place: Place, id: str) -> list[Record]:
        """The memories that a memory superseded, in the order they were told."""
        rows = self._all("replaced_by", self.scope(place), id)
        return [self._record(row, place.scope) for row in rows]

    def tell(self, place: Place, id: str, source: Source, now: datetime) -> None:
        """Adds to who told a memory."""
        told = (source.writer, source.role, source.message, source.via, stamp(now))
        self._do("add_telling", self.scope(place), id, *told)

    def tellings(self, place: Place, id: str) -> list[Source]:
        """Who told a memory again, in order."""
        return [Source(*row) for row in self._all("tellings_of", self.scope(place), id)]

    def told_by(self, place: Place, writer: str, since: datetime) -> tuple[list[str], list[str]]:
        """The memories a writer was the first to tell since then, and those it told again."""
        values = (self.scope(place), writer, stamp(since))
        first, again = self._all("written_by", *values), self._all("told_by", *values)
        return [row[0] for row in first], [row[0] for row in again]

    def untell(self, place: Place, writer: str, since: datetime) -> None:
        """Takes a writer out of those who told a memory again since then."""
        self._do("untell", self.scope(place), writer, stamp(since))

    # --- turns, quarantine, policies ---

    def hear(self, place: Place, turn: bytes) -> None:
        """Notes that a turn was learned from."""
        self._do("add_heard", self._make_scope(place), turn)

    def heard(self, place: Place, turn: bytes) -> bool:
        """Whether a turn was learned from."""
        return self._one("heard", self.scope(place), turn) is not None

    def hold(self, place: Place, id: str, draft: str, why: str, now: datetime) -> None:
        """Puts a draft in quarantine."""
        self._do("hold", self._make_scope(place), id, draft, why, stamp(now))

    def held(
        self, place: Place, id: str | None, limit: int
    ) -> list[tuple[str, str, str, datetime]]:
        """What is in quarantine: id, draft and reasons as JSON, since when."""
        scope = self.scope(place)
        rows = (
            self._all("all_held", scope, limit) if id is None else self._all("one_held", scope, id)
        )
        return [(row[0], row[1], row[2], moment(row[3])) for row in rows]

    def release(self, place: Place, id: str) -> None:
        """Takes a draft out of quarantine."""
        self._do("release", self.scope(place), id)

    def policy(self, place: Place) -> str | None:
        """The policy of a place as JSON."""
        if place not in self._policies:
            self._policies[place] = self._policy(place)
        return self._policies[place]

    def set_policy(self, place: Place, policy: str) -> None:
        """Sets the policy of a place."""
        json.loads(policy)
        self._do("set_policy", self._make_scope(place), policy)
        self._policies[place] = policy

    # --- forgetting ---

    def drop_learned(self, scope: Any, id: str) -> None:
        """Removes what hangs on a memory that is forgotten."""
        for name in ("drop_slots", "drop_links", "drop_tellings"):
            self._do(name, scope, id)

    def drop_all_learned(self, scope: Any) -> None:
        """Removes what waits or is noted for a scope that is forgotten."""
        for name in ("drop_scope_jobs", "drop_scope_held", "drop_heard", "drop_policy", "unslot"):
            self._do(name, scope)
