"""Promises about keeping: state, expiry, export and import, upkeep."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory, Source
from holdfast.errors import Closed, Conflict, HoldfastError, Invalid, NotFound
from holdfast.testing.stand_ins import ALL, DAY, FakeClock, OpenScope, contents, sights, told

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 2**80, 1.5, -1e300, "", "ключ 🎉 \u2028", [], {}),
    *([None, [1, [2.5, {}]]], {"": None, "a b": {"c": ["d"]}, "é": "e\u0301"}),
]
HEADING = '{"type":"holdfast","format":1}'
TICK = timedelta(microseconds=1)


def line(**changes: Any) -> str:
    """A memory as a line of an export."""
    at = "2026-01-01T00:00:00Z"
    told = {"type": "memory", "id": "m", "content": "likes tea", "created_at": at}
    return json.dumps({**told, "happened_at": at, **changes})


class Keeping:
    """Promises about keeping."""

    # --- state ---

    @pytest.mark.parametrize("value", VALUES)
    def test_state_keeps_any_json(self, memory: Memory, clock: FakeClock, value: Any) -> None:
        entry = memory.set("k", value)
        assert memory.entry("k") == entry
        assert (entry.version, entry.updated_at, entry.expires_at) == (1, clock(), None)
        assert (memory.get("k", "nothing"), type(memory.get("k"))) == (value, type(value))

    def test_a_missing_key_is_the_default(self, memory: Memory) -> None:
        assert (memory.get("k"), memory.get("k", 7)) == (None, 7)
        assert not memory.delete("k")
        with pytest.raises(NotFound, match="k"):
            memory.entry("k")

    def test_compare_and_set_has_one_winner(self, memory: Memory) -> None:
        version = memory.set("k", "first", if_version=0).version
        assert memory.set("k", "second", if_version=version).version == version + 1
        for stale in (0, version, version + 2):
            with pytest.raises(Conflict, match=f"version {stale}"):
                memory.set("k", "third", if_version=stale)
            with pytest.raises(Conflict):
                memory.delete("k", if_version=stale)
        assert memory.get("k") == "second"
        assert memory.delete("k", if_version=version + 1)
        with pytest.raises(Conflict):
            memory.append("k", 1, if_version=version + 1)

    @pytest.mark.parametrize("way", ["delete", "expire", "forget", "purge"])
    def test_a_version_never_comes_again(self, memory: Memory, clock: FakeClock, way: str) -> None:
        seen = [memory.set("k", n, ttl=60).version for n in range(3)]
        if way == "forget":
            memory.forget(everything=True)
        elif way == "expire":
            clock.advance(seconds=60)
        else:
            memory.delete("k")
        if way == "purge":
            memory.purge()
        assert memory.set("k", 3, if_version=0).version not in seen

    def test_state_is_gone_on_the_instant(self, memory: Memory, clock: FakeClock) -> None:
        memory.set("k", 1, ttl=60)
        clock.advance(seconds=60, microseconds=-1)
        assert (memory.get("k"), memory.keys(), memory.stats().states) == (1, ("k",), 1)
        clock.advance(microseconds=1)
        assert (memory.get("k"), memory.keys(), memory.stats().states) == (None, (), 0)
        assert list(memory.export()) == [HEADING]
        assert not memory.delete("k")
        assert memory.increment("k", 5).value == 5

    def test_a_change_keeps_the_expiry_and_set_does_not(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        ends = clock() + timedelta(seconds=60)
        memory.set("n", 1, ttl=60), memory.set("log", [], ttl=timedelta(minutes=1))
        assert memory.increment("n").expires_at == memory.append("log", 1).expires_at == ends
        assert memory.append("log", 1, ttl=90).expires_at == clock() + timedelta(seconds=90)
        assert memory.set("n", 1).expires_at is None

    def test_append_and_increment_build_on_what_is_there(self, memory: Memory) -> None:
        assert [memory.append("log", x).value for x in (1, [2])] == [[1], [1, [2]]]
        assert [memory.increment("n", by).value for by in (1, 2.5, -3)] == [1, 3.5, 0.5]
        assert (memory.entry("log").version, memory.entry("n").version) == (2, 3)

    def test_what_is_no_list_or_number_is_left_alone(self, memory: Memory) -> None:
        for value in ("text", True, {"a": 1}):
            memory.set("k", value)
            for change in (memory.append, memory.increment):
                with pytest.raises(Invalid, match="k"):
                    change("k", 1)
            assert memory.get("k") == value

    def test_keys_come_in_order_by_prefix_and_page(self, memory: Memory) -> None:
        keys = ["a", "a%", "a/1", "a/2", "a_", "b", "Ä", "\ud7ff", "\ue000", "\U0010ffff", "🎉x"]
        for key in reversed(keys):
            memory.set(key, 1)
        assert memory.keys() == tuple(sorted(keys))
        for prefix in ("a", "a/", "a_", "a%", "\ud7ff", "\U0010ffff", "🎉", "zz"):
            assert memory.keys(prefix) == tuple(sorted(k for k in keys if k.startswith(prefix)))
        assert memory.keys("a", after="a/1", limit=2) == ("a/2", "a_")

    # --- expiry ---

    def test_expired_is_gone_on_the_instant_by_every_path(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        then, id = clock(), memory.remember("likes tea", ttl=timedelta(hours=1)).id
        clock.advance(hours=1, microseconds=-1)
        assert len(sights(memory, id, "likes tea", then)) == 9
        clock.advance(microseconds=1)
        assert sights(memory, id, "likes tea", then) == set()
        assert len(memory.recall("likes tea", now=then, min_score=0)) == 0
        assert memory.stats().memories == 0
        with pytest.raises(NotFound):
            memory.forget(id)
        again = memory.remember("likes tea")
        assert (again.created, again.id == id) == (True, False)
        assert memory.doctor().healthy

    def test_what_expired_stands_in_nobodys_way(self, memory: Memory, clock: FakeClock) -> None:
        memory.remember("likes tea", id="a", ttl=60)
        id = memory.remember("likes coffee").id
        clock.advance(seconds=60)
        assert memory.revise(id, "likes tea").content == "likes tea"
        assert memory.remember("likes milk", id="a").created
        assert memory.read("a").content == "likes milk"

    def test_a_temporary_memory_lives_a_week_unless_told(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        ends = [
            memory.read(memory.remember(f"note {how}", "temporary", **how).id).expires_at
            for how in ({}, {"ttl": 60}, {"pinned": True})
        ]
        assert ends == [clock() + 7 * DAY, clock() + timedelta(seconds=60), None]
        with pytest.raises(Invalid, match="pinned"):
            memory.remember("both", ttl=60, pinned=True)

    # --- moving house ---

    def _fill(self, memory: Memory, clock: FakeClock) -> None:
        source = Source("ann", "user", "message-9")
        id = memory.remember("likes tea", "preference", ["b", "a"], {"n": [None]}, "s", source).id
        memory.remember_many([{"content": "für immer", "pinned": True}, "茶"])
        memory.remember("for now", ttl=3600, happened_at=clock() - 9 * DAY + TICK)
        clock.advance(seconds=1)
        memory.revise(id, "likes coffee"), memory.remember("茶"), memory.recall("coffee")
        memory.set("null", None), memory.set("k", {"a": [1, None]}, ttl=60), memory.set("k", 2)

    def test_an_import_of_an_export_is_equal(
        self, memory: Memory, open_scope: OpenScope, clock: FakeClock
    ) -> None:
        self._fill(memory, clock)
        lines, other = list(memory.export()), open_scope("other")
        done = other.import_(lines)
        assert (done.added, done.known, done.states) == (5, 0, 2)
        assert list(other.export()) == lines
        assert (other.get("k"), other.entry("k").version) == (2, 2)
        assert contents(other.recall("likes coffee")) == contents(memory.recall("likes coffee"))
        again = other.import_(f"{text}\n" for text in lines)
        assert (again.added, again.known, again.states) == (0, 5, 0)

    def test_an_export_is_whole_however_long(self, memory: Memory, open_scope: OpenScope) -> None:
        memory.remember_many([f"note {n}" for n in range(1200)])
        keys = [f"{n:03}\u3000\ue000{'🎉' * 500}" for n in range(501)]
        entry = {"type": "state", "value": 1, "version": 1, "updated_at": "2026-01-01T00:00:00Z"}
        memory.import_([HEADING, *(json.dumps({**entry, "key": key}) for key in keys)])
        lines, other = list(memory.export()), open_scope("other")
        assert len(lines) == 1 + 1200 + 501
        assert other.import_(lines).added == 1200
        assert list(other.export()) == lines

    @pytest.mark.parametrize(
        "bad",
        [
            *("{", "[]", '{"type":"dream"}', '{"type":"memory","id":"x"}', line(content="\x00")),
            *(line(content=" "), line(pinned=1), line(created_at="2026-01-01T00:00:00")),
            *(line(expires_at="2026-01-01T00:00:00"), line(until="2026-01-01"), line(version=0)),
            *(line(uses=2**70), line(version=2**63), line(superseded_by="\ud800"), line(mood="x")),
            *(
                line(expires_at="9999-12-31T23:59:59-14:00"),
                line(source={"writer": "a", "role": "x"}),
            ),
            *(line(id="good", content="other words"), '{"type":"state","key":"k"}', HEADING),
            '{"type":"state","key":"k","value":1,"version":1,"updated_at":"2026-01-01T00:00:00"}',
            '{"type":"state","key":"k","value":1,"version":-1,"updated_at":"2026-01-01T00:00:00Z"}',
        ],
    )
    def test_an_import_is_taken_whole_or_not_at_all(self, memory: Memory, bad: str) -> None:
        with pytest.raises(HoldfastError):
            memory.import_([HEADING, line(id="good", content="good words"), bad])
        assert (list(memory.export()), memory.stats().versions) == ([HEADING], 0)
        assert memory.import_([HEADING, line(id="good", content="good words")]).added == 1

    @pytest.mark.parametrize(
        "lines", [[], [""], [line()], ['{"type":"holdfast","format":2}', line()], "text"]
    )
    def test_an_import_begins_with_its_heading(self, memory: Memory, lines: Any) -> None:
        with pytest.raises(Invalid):
            memory.import_(lines)
        assert told(memory) == []

    def test_an_import_is_not_stopped_by_what_expired(
        self, memory: Memory, open_scope: OpenScope, clock: FakeClock
    ) -> None:
        fresh = open_scope("other")
        fresh.remember("likes tea", id="b"), fresh.remember("likes milk", id="c"), fresh.set("k", 1)
        memory.remember("likes tea", id="a", ttl=60), memory.remember("old", id="c", ttl=60)
        memory.set("k", 0, ttl=60)
        clock.advance(seconds=60)
        done = memory.import_(list(fresh.export()))
        assert (done.added, done.known, done.states) == (2, 0, 1)
        assert (sorted(told(memory)), memory.get("k")) == (["likes milk", "likes tea"], 1)

    def test_an_import_leaves_no_half_memory(self, memory: Memory, open_scope: OpenScope) -> None:
        memory.remember("likes tea", id="a")
        memory.revise("a", "likes coffee")
        other = open_scope("other")
        other.remember("likes coffee", id="b")
        other.import_(list(memory.export()))
        assert told(other) == ["likes coffee"]
        assert all(other.history(m.id)[-1].until is None for m in other.list(limit=ALL))
        with pytest.raises(NotFound):
            other.read("a")

    # --- upkeep ---

    def test_a_healthy_store_is_found_healthy(self, memory: Memory, clock: FakeClock) -> None:
        self._fill(memory, clock)
        for said in (
            "Ann lives in Berlin",
            "Ann lives in Rome now. Bob speaks Thai",
            "Cid has a cat",
        ):
            memory.remember(said, reconcile=True)
        for repair in (False, True, False):
            assert memory.doctor(repair).findings == ()
        assert memory.doctor().healthy

    def test_stats_count_what_is_in_sight(self, memory: Memory, clock: FakeClock) -> None:
        self._fill(memory, clock)
        assert memory.stats().versions == 5
        memory.remember("gone", ttl=1, session="t"), memory.set("gone", 1, ttl=1)
        clock.advance(seconds=1)
        stats = memory.stats()
        assert (stats.scope, stats.memories, stats.states) == ("contract", 4, 2)
        assert (dict(stats.kinds), stats.sessions) == ({"fact": 3, "preference": 1}, 1)
        assert (stats.waiting, stats.file_bytes > 0) == (0, True)

    def test_purge_takes_the_expired_and_nothing_else(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        self._fill(memory, clock)
        memory.set("soon", 1, ttl=60)
        clock.advance(hours=1)
        before, done = list(memory.export()), memory.purge()
        assert (done.memories, done.states) == (1, 1)
        assert (memory.purge().memories, list(memory.export())) == (0, before)
        assert contents(memory.recall("likes coffee")) == ["likes coffee"]

    def test_what_has_expired_is_swept_without_a_purge(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        self._fill(memory, clock)
        memory.set("soon", 1, ttl=60)
        memory.remember_many([{"content": f"note {n}", "ttl": 60} for n in range(300)])
        clock.advance(hours=1)
        before = list(memory.export())
        memory.work()
        done = memory.purge()
        assert (done.memories, done.states, list(memory.export())) == (0, 0, before)
        assert memory.doctor().healthy

    @pytest.mark.parametrize("more", [{"ttl": 9000}, {"pinned": True}, {}])
    def test_a_life_made_longer_is_longer_for_every_version(
        self, memory: Memory, clock: FakeClock, more: dict[str, Any]
    ) -> None:
        then, id = clock(), memory.remember("likes tea", ttl=60).id
        clock.advance(seconds=1)
        memory.revise(id, "likes coffee")
        memory.remember("likes coffee", **more)
        clock.advance(seconds=60)
        memory.purge()
        assert contents(memory.history(id)) == ["likes tea", "likes coffee"]
        assert contents(memory.recall("likes", as_of=then)) == ["likes tea"]
        assert len(list(memory.export())) == 3

    def test_closing_twice_does_no_harm_and_closed_is_closed(
        self, memory: Memory, open_scope: OpenScope
    ) -> None:
        other = open_scope("contract")
        memory.remember("likes tea")
        memory.close()
        memory.close()
        for verb in (memory.remember, memory.recall, memory.get, memory.read):
            with pytest.raises(Closed):
                verb("tea")
        with pytest.raises(Closed):
            list(memory.export())
        assert told(other) == ["likes tea"]
