"""remember, list, revise, forget: what becomes of what is told."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast import Memory, Source
from holdfast.errors import Conflict, HoldfastError, Invalid, NotFound, TooLarge
from holdfast.testing.stand_ins import FakeClock, OpenScope, attempted, contents, sights, told


class Telling:
    """Promises about telling and forgetting."""

    # --- remembering ---

    def test_every_field_comes_back_as_it_was_given(self, memory: Memory, clock: FakeClock) -> None:
        source = Source("ann", "user", "message-9")
        said: dict[str, Any] = {"tags": ["b", "a"], "meta": {"n": [1, None]}, "session": "s1"}
        then = datetime(2020, 2, 29, 23, 59, 59, 1, timezone(timedelta(hours=-5)))
        id = memory.remember(
            "Tea, please ", "wish", **said, source=source, happened_at=then, ttl=9
        ).id
        found = memory.read(id)
        assert (found.id, found.scope, found.content) == (id, "contract", "Tea, please ")
        assert (found.kind, found.tags, found.meta) == ("wish", ("b", "a"), {"n": [1, None]})
        assert (found.session, found.source, found.pinned) == ("s1", source, False)
        assert (found.happened_at, found.created_at) == (then, clock())
        assert (found.expires_at, found.version) == (clock() + timedelta(seconds=9), 1)
        assert (found.until, found.superseded_by, found.uses) == (None, None, 0)

    def test_a_memory_told_plainly_is_a_fact_of_now(self, memory: Memory, clock: FakeClock) -> None:
        found = memory.read(memory.remember("likes tea").id)
        assert (found.kind, found.happened_at, found.expires_at) == ("fact", clock(), None)
        assert (found.tags, found.meta, found.writer, found.session) == ((), {}, None, None)

    def test_a_writer_alone_may_stand_for_a_source(self, memory: Memory) -> None:
        assert memory.read(memory.remember("likes tea", source="ann").id).source == Source("ann")

    @pytest.mark.parametrize(
        "again", ["caf\u00e9 au  lait", "cafe\u0301 au lait", "\tcafé au\nlait "]
    )
    def test_the_same_words_again_reinforce_and_do_not_duplicate(
        self, memory: Memory, again: str
    ) -> None:
        first = memory.remember("café au lait", tags=["a"], meta={"x": 1, "y": 1})
        second = memory.remember(again, tags=["b", "a"], meta={"y": 2})
        assert (second.id, first.created, second.created) == (first.id, True, False)
        (found,) = memory.list()
        assert (found.content, found.uses) == ("café au lait", 1)
        assert (found.tags, found.meta) == (("a", "b"), {"x": 1, "y": 2})
        assert len(memory.recall("café au lait", tags=["b"], meta={"y": 2})) == 1

    def test_other_case_is_othercontents(self, memory: Memory) -> None:
        assert memory.remember("polish").id != memory.remember("Polish").id

    def test_told_again_it_lives_at_least_as_long(self, memory: Memory, clock: FakeClock) -> None:
        id = memory.remember("likes tea", ttl=60).id
        memory.remember("likes tea", ttl=10)
        assert memory.read(id).expires_at == clock() + timedelta(seconds=60)
        memory.remember("likes tea", pinned=True)
        clock.advance(days=400)
        assert memory.read(id).pinned

    def test_an_id_can_be_chosen_but_not_taken_twice(self, memory: Memory) -> None:
        assert memory.remember("likes tea", id="mine").id == "mine"
        assert not memory.remember("likes tea", id="mine").created
        with pytest.raises(Conflict, match="mine"):
            memory.remember("likes coffee", id="mine")
        assert memory.read("mine").content == "likes tea"

    def test_a_retry_of_any_write_gets_the_first_answer(self, memory: Memory) -> None:
        id = memory.remember("one").id
        memory.set("gone", 1)
        calls: list[Callable[[], Any]] = [
            lambda: memory.remember("two", ttl=60, idempotency_key="a"),
            lambda: memory.remember_many(["three", "one"], idempotency_key="b"),
            lambda: memory.revise(id, "four", idempotency_key="c"),
            lambda: memory.set("k", None, idempotency_key="d"),
            lambda: memory.append("list", {"x": None}, ttl=60, idempotency_key="e"),
            lambda: memory.increment("n", 2.5, idempotency_key="f"),
            lambda: memory.delete("gone", idempotency_key="g"),
            lambda: memory.forget(kinds=["rumour"], idempotency_key="h"),
        ]
        first = [call() for call in calls]
        lines = list(memory.export())
        assert [call() for call in calls] == first
        assert list(memory.export()) == lines

    def test_a_key_used_for_another_call_is_a_conflict(self, memory: Memory) -> None:
        memory.remember("likes tea", idempotency_key="a")
        memory.set("k", None, idempotency_key="b")
        for call in (
            lambda: memory.remember("likes coffee", idempotency_key="a"),
            lambda: memory.remember("likes tea", tags=["x"], idempotency_key="a"),
            lambda: memory.set("k", 0, idempotency_key="b"),
            lambda: memory.delete("k", idempotency_key="b"),
        ):
            with pytest.raises(Conflict, match="idempotency"):
                call()
        assert (told(memory), memory.keys()) == (["likes tea"], ("k",))

    def test_keys_of_one_scope_mean_nothing_in_another(
        self, memory: Memory, open_scope: OpenScope
    ) -> None:
        memory.remember("likes tea", idempotency_key="a")
        assert open_scope("other").remember("likes coffee", idempotency_key="a").created

    def test_a_retry_after_forget_brings_nothing_back(self, memory: Memory) -> None:
        id = memory.remember("likes tea").id
        calls: list[Callable[[], Any]] = [
            lambda: memory.remember("likes milk", idempotency_key="a"),
            lambda: memory.remember_many(["likes rum", "likes gin"], idempotency_key="b"),
            lambda: memory.revise(id, "likes coffee", idempotency_key="c"),
            lambda: memory.set("k", "secret", idempotency_key="d"),
        ]
        for call in calls:
            call()
        memory.forget(everything=True)
        for call in calls:
            said = attempted(call)
            assert "likes" not in said
            assert "secret" not in said
        assert (told(memory), memory.keys(), list(memory.export())[1:]) == ([], (), [])

    @pytest.mark.parametrize(
        "bad",
        ["", "a\x00b", {"content": "x", "id": "taken"}, {"text": "x"}, 7, {"content": "\ud800"}],
    )
    def test_many_are_remembered_all_or_none(self, memory: Memory, bad: Any) -> None:
        memory.remember("here first", id="taken")
        with pytest.raises(HoldfastError):
            memory.remember_many(["one", bad, "two"])
        assert told(memory) == ["here first"]
        many = memory.remember_many(["one", {"content": "two", "tags": ["x"]}, "one "])
        assert [each.created for each in many] == [True, True, False]
        assert told(memory) == ["two", "one", "here first"]

    def test_content_may_have_32_kib_and_no_more(self, memory: Memory) -> None:
        longest = "é" * (16 * 1024)
        memory.remember(longest)
        assert contents(memory.recall(longest)) == [longest]
        with pytest.raises(TooLarge, match="32768"):
            memory.remember(longest + "e")
        assert memory.doctor().healthy

    # --- listing, revising, forgetting ---

    def test_pages_show_each_memory_once_while_others_write(self, memory: Memory) -> None:
        notes = memory.remember_many([f"note {n}" for n in range(9)])
        first = memory.list(limit=3)
        memory.remember_many(["new one", "new two", "note 2"])
        memory.forget(first[2].id)
        memory.forget(notes[4].id)
        second = memory.list(limit=3, cursor=first.cursor)
        memory.revise(notes[0].id, "note 0, revised")
        third = memory.list(limit=3, cursor=second.cursor)
        assert contents(first) == ["note 8", "note 7", "note 6"]
        assert contents(second) == ["note 5", "note 3", "note 2"]
        assert contents(third) in (["note 1", "note 0"], ["note 1", "note 0, revised"])
        assert third.cursor is None

    def test_a_cursor_of_ours_is_the_only_one_taken(self, memory: Memory) -> None:
        for cursor in ("", "x", "WyJhIl0=", "W10=", "Wy0xLCIiXQ==", "é", 7):
            with pytest.raises(Invalid, match="cursor"):
                memory.list(cursor=cursor)  # type: ignore[arg-type]

    def test_revise_keeps_the_id_and_the_oldcontents(
        self, memory: Memory, clock: FakeClock
    ) -> None:
        then, id = clock(), memory.remember("likes tea", tags=["drink"], source="ann").id
        revised = clock.advance(days=1)
        new = memory.revise(id, "likes coffee")
        old, last = memory.history(id)
        assert new == last == memory.read(id)
        assert (new.content, new.version, new.created_at) == ("likes coffee", 2, revised)
        assert (new.tags, new.source, new.until) == (("drink",), Source("ann"), None)
        assert (old.content, old.version, old.created_at, old.until) == (
            "likes tea",
            1,
            then,
            revised,
        )
        assert contents(memory.recall("likes coffee")) == ["likes coffee"]
        assert (told(memory), memory.stats().memories) == (["likes coffee"], 1)

    def test_the_same_words_are_no_revision(self, memory: Memory) -> None:
        id = memory.remember("likes tea").id
        assert memory.revise(id, " likes  tea ").version == 1
        assert [memory.revise(id, words).version for words in ("coffee", "likes tea")] == [2, 3]

    def test_revising_into_another_memorys_words_is_a_conflict(self, memory: Memory) -> None:
        id, other = memory.remember("likes tea").id, memory.remember("likes coffee").id
        with pytest.raises(Conflict, match=other):
            memory.revise(id, "likes coffee")
        assert len(memory.history(id)) == 1

    def test_forgotten_is_gone_by_every_path(self, memory: Memory, clock: FakeClock) -> None:
        id = memory.remember("likes tea", session="s", idempotency_key="a").id
        memory.revise(id, "likes jasmine tea", idempotency_key="b")
        every = sights(memory, id, "likes jasmine tea", clock())
        receipt = memory.forget(id)
        assert len(every) == 9
        assert (receipt.memories, receipt.states, receipt.at) == (1, 0, clock())
        for words in ("likes tea", "likes jasmine tea"):
            assert sights(memory, id, words, clock()) == set()
            assert memory.remember(words).created
        for verb in (memory.forget, memory.read, lambda i: memory.explain(i, "tea")):
            with pytest.raises(NotFound, match=id):
                verb(id)

    @pytest.mark.parametrize(
        "what", [{}, {"id": "a", "tags": ["x"]}, {"tags": ["x"], "everything": True}, {"meta": {}}]
    )
    def test_forget_must_be_told_what(self, memory: Memory, what: Any) -> None:
        memory.remember("likes tea", id="a", tags=["x"])
        with pytest.raises(Invalid, match="forget"):
            memory.forget(**what)
        assert len(memory.list()) == 1

    def test_forget_everything_takes_this_scope_and_its_state(
        self, memory: Memory, open_scope: OpenScope
    ) -> None:
        open_scope("other").remember("likes tea")
        memory.remember_many(["likes tea", "likes coffee"])
        memory.set("k", 1)
        receipt = memory.forget(everything=True)
        assert (receipt.memories, receipt.states) == (2, 1)
        assert (list(memory.export())[1:], memory.keys()) == ([], ())
        assert told(open_scope("other")) == ["likes tea"]

    def test_a_receipt_tells_ids_apart(self, memory: Memory) -> None:
        digests = set()
        for id in ("a", "b", "a"):
            memory.remember("likes tea", id=id)
            digests.add(memory.forget(id).digest)
        assert len(digests) == 2
