"""A scope grown past every bound of the index: the bounds are lowered, not the scope raised."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from holdfast import Memory
from holdfast.backend import Here
from holdfast.embed.hashing import Hashing
from holdfast.engine.cache import index, search, vectors
from holdfast.engine.sqlite import SQLite, rows
from holdfast.engine.sqlite import search as sqlite_search
from holdfast.service import Service
from holdfast.text import passages

NUMBERS = range(300)


@pytest.fixture(autouse=True)
def _low_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SMALL", 10)
    monkeypatch.setattr(vectors, "WHOLE", 50)
    monkeypatch.setattr(vectors, "FIRST", 64)
    monkeypatch.setattr(vectors, "CHUNK", 8)
    monkeypatch.setattr(vectors, "MANY", 12)
    monkeypatch.setattr(sqlite_search, "STEP", 16)
    monkeypatch.setattr(index, "CACHE_BYTES", 1)
    monkeypatch.setattr(rows, "CHANGES_KEPT", 50)


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    with Memory("s", url, embedder="hashing") as memory:
        memory.remember_many(
            [
                {
                    "content": f"the tea{n} of shop{n % 7} costs coins{n % 11}",
                    "id": f"id{n}",
                    "tags": [f"tag{n % 50}"],
                    "session": f"session{n % 30}",
                    "happened_at": start + timedelta(hours=n),
                }
                for n in NUMBERS
            ]
        )
        yield memory


def test_each_is_found_by_its_own_word(memory: Memory) -> None:
    found = [memory.recall(f"tea{n}", 1) for n in NUMBERS]
    assert [hits[0].id if hits else None for hits in found] == [f"id{n}" for n in NUMBERS]


def test_each_is_found_by_all_its_words(memory: Memory) -> None:
    for n in range(0, 300, 9):
        query = f"the tea{n} of shop{n % 7} costs coins{n % 11}"
        assert memory.recall(query, 1)[0].id == f"id{n}"


@pytest.mark.parametrize("together", [1, 7, 300, 1000])
def test_however_many_are_read_at_a_time_the_answers_are_the_same(
    memory: Memory, url: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "the tea12 of shop3 costs coins9"
    now = datetime(2026, 3, 1, tzinfo=timezone.utc)
    expected = [(hit.id, hit.score) for hit in memory.recall(query, 50, now=now)]
    monkeypatch.setattr(sqlite_search, "STEP", together)
    with Memory("s", url, embedder=Hashing()) as anew:
        assert [(hit.id, hit.score) for hit in anew.recall(query, 50, now=now)] == expected
        assert len(expected) == 50
        anew.remember("the tea999 of shop3", id="new")  # beyond what was loaded
        assert anew.recall("tea999", 1)[0].id == "new"


def test_filters_leave_in_all_that_match(memory: Memory) -> None:
    for where, expected in (
        ({"tags": ["tag7"]}, {f"id{n}" for n in NUMBERS if n % 50 == 7}),
        ({"session": "session3"}, {f"id{n}" for n in NUMBERS if n % 30 == 3}),
        ({"tags": ["tag7"], "session": "session7"}, {"id7", "id157"}),
    ):
        found = memory.recall("zebra", 1000, min_score=0, **where)
        assert {hit.id for hit in found} == expected


def test_no_two_hits_are_one_memory(memory: Memory) -> None:
    found = memory.recall("shop3 coins5", 1000, min_score=0)
    assert len({hit.id for hit in found}) == len(found)
    assert len(found) >= 200


def test_what_was_revised_and_forgotten_is_followed(memory: Memory, url: str) -> None:
    with Memory("s", url, embedder=Hashing()) as other:
        assert other.recall("tea5", 1)[0].id == "id5"
        for n in range(0, 300, 4):
            memory.revise(f"id{n}", f"the coffee{n} of shop{n % 7}")
        for n in range(1, 300, 4):
            memory.forget(f"id{n}")
        for n in range(0, 300, 20):
            for door in (memory, other):
                assert f"id{n}" in {hit.id for hit in door.recall(f"coffee{n}", 5)}
                assert all(hit.id != f"id{n + 1}" for hit in door.recall(f"tea{n + 1}", 1000))
                assert f"id{n + 2}" in {hit.id for hit in door.recall(f"tea{n + 2}", 5)}
    assert memory.stats().memories == 225
    assert memory.doctor().findings == ()


def test_what_is_usual_follows_what_changes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "SAMPLE", 32)
    engine = SQLite(url.removeprefix("sqlite:///"))
    service = Service(engine, Hashing())
    with Memory("s", backend=Here(service, service.close)) as memory:
        memory.remember_many([{"content": f"tea{n} of shop{n % 7}", "id": f"{n}"} for n in NUMBERS])
        assert memory.recall("tea5")
        [held] = engine._indexes._held.values()
        first = held.sampled()
        memory.remember("tea300 of shop6")
        assert memory.recall("tea5")
        assert held.sampled() is first  # one more row is none of the sample
        memory.forget(f"{first.positions[-1]}")
        assert memory.recall("tea5")
        assert held.sampled().positions.tolist() == first.positions.tolist()[:-1]
        assert len(held.sampled().vectors.bytes) == len(first.positions) - 1


def test_the_nearest_are_the_nearest_of_all() -> None:
    chance = np.random.default_rng(5)
    for count in (1, 9, 40, 333, 2000):
        near = chance.integers(0, 300, count).astype(np.float32)  # many are alike
        for most in (1, 7, 100):
            found = vectors._highest(near, most)
            assert len(set(found.tolist())) == min(most, count)
            assert sorted(near[found]) == sorted(near)[-most:]


def test_long_contents_have_all_their_passages_compared(memory: Memory) -> None:
    for n in range(30):
        filling = "and so the river went on past the old bridge " * 30
        memory.remember(f"{filling} dragon{n} dragon{n} dragon{n} {filling}", id=f"d{n}")
    for n in range(30):
        meant = memory.explain(f"d{n}", f"dragon{n}").why
        assert meant is not None
        assert meant.meaning == pytest.approx(best_passage(memory, f"d{n}", f"dragon{n}"), abs=0.01)


def best_passage(memory: Memory, id: str, query: str) -> float:
    """The cosine of a query to the nearest passage of a memory."""
    asked, *parts = Hashing().embed([query, *passages(memory.read(id).content)])
    return max(float(part @ asked) for part in parts)


def test_scopes_stay_apart_though_only_one_fits_into_memory(memory: Memory, url: str) -> None:
    with Memory("t", url, embedder="hashing") as other:
        other.remember_many([f"the tea{n} of another shop" for n in range(100)])
        for n in range(0, 100, 10):
            assert memory.recall(f"tea{n}", 1)[0].id == f"id{n}"
            assert other.recall(f"tea{n}", 1)[0].content == f"the tea{n} of another shop"
            both = memory.recall(f"tea{n}", 10, scopes=["s", "t"])
            assert {hit.memory.scope for hit in both} == {"s", "t"}


def test_as_of_sees_what_was_true_then(memory: Memory) -> None:
    before = memory.read("id8").created_at
    memory.revise("id8", "nothing of the kind")
    assert memory.recall("tea8", 1, as_of=before)[0].content.startswith("the tea8 ")
    assert all("tea8 " not in hit.content for hit in memory.recall("tea8", 1000, min_score=0))


def test_the_scopes_not_used_for_longest_are_let_go_and_weighed_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index, "CACHE_BYTES", 250)
    weighed: list[str] = []

    class Heavy(index.Index):
        @property
        def nbytes(self) -> int:
            weighed.append("one")
            return 100

    monkeypatch.setattr(index, "Index", Heavy)
    held = index.Indexes()
    first = held.scope(1, 1, 0)
    held.scope(1, 2, 0)
    assert held.scope(1, 1, 0) is first
    held.scope(1, 3, 0)  # the second one goes
    assert held.scope(1, 1, 0) is first
    weighed.clear()
    held.scope(1, 2, 0)
    assert len(weighed) <= 2
    assert held.scope(1, 1, 0) is first
