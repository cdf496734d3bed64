"""A store and its embedder: down, back again, mistaken for another, changed for another."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast import EmbedderFailed, EmbedderMismatch, Invalid, Memory, embedding
from holdfast.embed import Embedder, guard
from holdfast.embed.hashing import Hashing
from holdfast.engine.cache.index import Index
from holdfast.model import Reembedded
from holdfast.testing import MoodyEmbedder
from tests.waiting import until

STORY = ["Ann likes green tea", "the car is red", "we meet on Monday"]


@pytest.fixture(autouse=True)
def _restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that failed is tried again at once."""
    monkeypatch.setattr(guard, "REST_SECONDS", 0.0)


@pytest.fixture
def embedder() -> MoodyEmbedder:
    return MoodyEmbedder()


@pytest.fixture
def memory(url: str, embedder: MoodyEmbedder) -> Iterator[Memory]:
    with Memory("s", url, embedder=embedder) as memory:
        yield memory


class Other(Hashing):
    """Another embedder, of another dimension, that can be stopped after some calls."""

    name = "other"

    def __init__(self, calls: float = float("inf")) -> None:
        super().__init__(96)
        self.calls = calls

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls -= 1
        if self.calls < 0:
            raise ConnectionError("cut")
        return super().embed(texts)


class Thesaurus(Hashing):
    """An embedder to which some words mean the same."""

    name = "thesaurus"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed([text.replace("beverage", "cup of tea") for text in texts])


# --- down, slow, lying ---


@pytest.mark.parametrize("mood", ["down", "nan", "lying"])
def test_without_an_embedder_writes_are_kept_and_words_answer(
    memory: Memory, embedder: MoodyEmbedder, mood: str
) -> None:
    memory.remember("Bob likes black coffee")
    embedder.mood = mood
    assert all(told.created for told in memory.remember_many(STORY))
    found = memory.recall("green tea")
    assert [hit.content for hit in found] == ["Ann likes green tea"]
    assert "moody" in (found.degraded or "")
    assert found[0].why.meaning is None
    assert "green tea" in memory.context("green tea")
    assert memory.stats().waiting == 3


def test_a_slow_embedder_holds_nobody_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.Guarded.__init__, "__defaults__", (0.05, time.monotonic))
    slow = MoodyEmbedder("slow", local=False)
    with Memory("s", url, embedder=slow) as memory:
        memory.remember("likes tea")
        assert "longer than 0.05 seconds" in (memory.recall("tea").degraded or "")
        assert len(memory.recall("tea")) == 1
    slow.wake.set()


class Watched(MoodyEmbedder):
    """An embedder that notes whether somebody is writing while it embeds."""

    def __init__(self, quick: bool) -> None:
        super().__init__()
        self.quick = quick
        self.store: sqlite3.Connection | None = None
        self.inside: list[bool] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.store is not None:
            try:
                self.store.execute("BEGIN IMMEDIATE")
                self.store.rollback()
                self.inside.append(False)
            except sqlite3.OperationalError:
                self.inside.append(True)
        return super().embed(texts)


@pytest.mark.parametrize("quick", [False, True])
def test_no_write_waits_for_an_embedder_that_is_not_quick(tmp_path: Path, quick: bool) -> None:
    embedder = Watched(quick)
    with Memory("s", f"sqlite:///{tmp_path / 'm.db'}", embedder=embedder) as memory:
        embedder.store = sqlite3.connect(tmp_path / "m.db", timeout=0, isolation_level=None)
        assert memory.remember("Ann likes green tea").created
        assert memory.remember_many(STORY[1:])
        embedder.store.close()
        embedder.store = None
        assert embedder.inside == [quick, False]
        assert memory.stats().waiting == 0
        assert [hit.content for hit in memory.recall("green tea")][:1] == ["Ann likes green tea"]


@pytest.mark.parametrize("mood", ["down", "nan", "lying"])
def test_a_quick_embedder_that_fails_inside_a_write_fails_no_write(
    url: str, embedder: MoodyEmbedder, mood: str
) -> None:
    embedder.quick = True  # type: ignore[attr-defined]  # any embedder may have it
    with Memory("s", url, embedder=embedder) as memory:
        embedder.mood = mood
        with ThreadPoolExecutor(4) as pool:
            assert all(told.created for told in pool.map(memory.remember, STORY))
        assert memory.stats().waiting == 3
        embedder.mood = "well"
        assert memory.recall("green tea")[0].why.meaning is not None


class Pondering(MoodyEmbedder):
    """An embedder that takes its time with a query: until the store is being read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = threading.Event()
        self.in_time: list[bool] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(2 * guard.LONG_SECONDS)
        if self.mood != "well":
            self.in_time.append(self.read.wait(30))
        return super().embed(texts)


@pytest.mark.parametrize("mood", ["ponders", "nan"])
def test_the_store_is_read_while_the_query_is_embedded(
    url: str, monkeypatch: pytest.MonkeyPatch, mood: str
) -> None:
    embedder, listed = Pondering(), Index.listed

    def reading(self: Index, *asked: Any) -> Any:
        embedder.read.set()
        return listed(self, *asked)

    with Memory("s", url, embedder=embedder) as memory:
        memory.remember_many(STORY)
        memory.recall("how long does this take?")
        embedder.mood = mood
        embedder.read.clear()
        monkeypatch.setattr(Index, "listed", reading)
        found = memory.recall("green tea")
    assert embedder.in_time == [True]
    assert found[0].content == STORY[0]
    assert (found[0].why.meaning is None) == bool(found.degraded) == (mood == "nan")


def test_without_waiting_it_is_on_disk_at_once_and_its_vector_follows(
    url: str, tmp_path: Path
) -> None:
    embedder = Pondering()
    with Memory("s", url, embedder=embedder) as memory:
        memory.recall("how long does this take?")
        embedder.mood = "ponders"
        told = memory.remember("Ann likes green tea", wait=False)
        with Memory("s", url, embedder=Pondering()) as another:
            assert another.read(told.id).content == "Ann likes green tea"
            assert another.stats().waiting == 1
        embedder.read.set()
        until(lambda: memory.stats().waiting == 0)
        assert embedder.in_time == [True]
        assert memory.recall("green tea")[0].why.meaning is not None


@pytest.fixture
def unhurried(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Memory, Pondering]]:
    """A memory, known to have a slow embedder, that makes later vectors only when it is closed."""
    monkeypatch.setattr(embedding, "SOON_SECONDS", 600.0)
    embedder = Pondering()
    with Memory("s", url, embedder=embedder) as memory:
        memory.recall("how long does this take?")
        yield memory, embedder


def test_a_question_does_not_wait_for_a_vector_that_is_on_its_way(
    unhurried: tuple[Memory, Pondering], url: str
) -> None:
    memory, embedder = unhurried
    memory.remember_many(STORY)
    memory.remember("Ann has a green kettle", wait=False)
    calls = embedder.calls
    found = memory.recall("a green kettle")
    assert found[0].content == "Ann has a green kettle"  # by its words
    assert embedder.calls == calls + 1  # the question's
    assert found.degraded == "1 memories wait for their vectors"
    memory.close()
    with Memory("s", url, embedder=embedder) as memory:
        assert memory.recall("a green kettle").degraded is None


def test_a_question_that_would_find_nothing_waits_for_it(
    unhurried: tuple[Memory, Pondering],
) -> None:
    memory, _ = unhurried
    memory.remember("Ann has a green kettle", wait=False)  # alone: its words say little
    found = memory.recall("which colour, make and size is the kettle?")
    assert found[0].content == "Ann has a green kettle"
    assert found[0].why.meaning is not None
    assert found.degraded is None


def test_vectors_that_nobody_waits_for_are_made_together(
    unhurried: tuple[Memory, Pondering], url: str
) -> None:
    memory, embedder = unhurried
    calls = embedder.calls
    for number in range(embedding.CATCH_UP + 6):
        memory.remember(f"note {number}", wait=False)
    memory.remember_many(["one more", "and another"], wait=False)
    assert embedder.calls == calls
    memory.close()
    assert embedder.calls == calls + 2
    with Memory("s", url, embedder=embedder) as memory:
        assert memory.stats().waiting == 0


def test_what_was_asked_needs_no_second_embedding(url: str) -> None:
    embedder = Pondering()
    with Memory("s", url, embedder=embedder) as memory:
        memory.recall("does Ann like green tea?")
        calls = embedder.calls
        memory.remember("does Ann like green tea?", wait=False)
        assert (memory.stats().waiting, embedder.calls) == (0, calls)


def test_closing_waits_for_vectors_that_are_on_their_way(url: str) -> None:
    embedder = Pondering()
    with Memory("s", url, embedder=embedder) as memory:
        memory.recall("how long does this take?")
        for number in range(5):
            memory.remember(f"note {number}", wait=False)
    with Memory("s", url, embedder=embedder) as memory:
        assert memory.stats().waiting == 0


def test_what_waits_is_embedded_by_the_next_recall(memory: Memory, embedder: MoodyEmbedder) -> None:
    embedder.mood = "down"
    memory.remember_many(STORY)
    embedder.mood = "well"
    found = memory.recall("green tea")
    assert (found[0].content, found.degraded) == (STORY[0], None)
    assert found[0].why.meaning is not None
    assert memory.stats().waiting == 0
    assert memory.doctor().healthy


def test_a_long_queue_is_worked_off_and_said_to_wait_meanwhile(
    memory: Memory, embedder: MoodyEmbedder
) -> None:
    embedder.mood = "down"
    memory.remember_many([f"green tea number {n}" for n in range(150)])
    embedder.mood = "well"
    said = [memory.recall("green tea").degraded for _ in range(4)]
    assert "wait" in (said[0] or "")
    assert said[-1] is None


def test_the_doctor_sees_and_embeds_what_waits(memory: Memory, embedder: MoodyEmbedder) -> None:
    embedder.mood = "down"
    memory.remember_many([f"green tea number {n}" for n in range(600)])
    assert not memory.doctor().healthy
    assert not memory.doctor(repair=True).healthy
    embedder.mood = "well"
    assert memory.doctor(repair=True).healthy
    assert memory.doctor().findings == ()
    assert memory.recall("green tea").degraded is None


def test_what_was_revised_while_it_was_down_is_found_afterwards(
    memory: Memory, embedder: MoodyEmbedder
) -> None:
    id = memory.remember("likes tea").id
    embedder.mood = "down"
    memory.revise(id, "likes coffee")
    embedder.mood = "well"
    assert memory.recall("likes coffee")[0].why.meaning == pytest.approx(1, abs=0.01)


def test_a_store_without_an_embedder_finds_by_words(url: str) -> None:
    with Memory("s", url, embedder=None) as memory:
        memory.remember_many(STORY)
        found = memory.recall("red car")
        assert [hit.content for hit in found] == ["the car is red"]
        assert "without an embedder" in (found.degraded or "")
        assert memory.explain(memory.list()[0].id, "zebra").verdict in (
            "no match",
            "below threshold",
        )


@pytest.mark.parametrize("others", [0, 1, 30])
def test_meaning_alone_is_enough(url: str, others: int) -> None:
    with Memory("s", url, embedder=Thesaurus()) as memory:
        memory.remember("Ann would like a cup of tea")
        for n in range(others):
            memory.remember(f"the lorry number {n} is parked outside")
        assert memory.recall("which beverage?")[0].content == "Ann would like a cup of tea"


# --- mistaken for another ---


def test_another_embedder_is_refused_by_name(url: str, memory: Memory) -> None:
    memory.remember("likes tea")
    with pytest.raises(EmbedderMismatch, match=r"moody 1 \(64 dimensions\).*`reembed`"):
        Memory("s", url, embedder=Other())
    with pytest.raises(EmbedderMismatch, match="reembed"):
        Memory("s", url, embedder=MoodyEmbedder(dimension=65))
    with pytest.raises(EmbedderMismatch, match="moody"):
        Memory("s", url)
    assert len(memory.recall("tea")) == 1


def test_auto_is_the_embedder_the_store_knows(url: str) -> None:
    with Memory("s", url, embedder="hashing") as memory:
        memory.remember("likes tea")
    with Memory("s", url) as memory:
        assert memory.recall("likes tea").degraded is None
        assert memory.stats().embedder.startswith("hashing 1")


def test_an_unknown_embedder_is_a_clear_error(url: str) -> None:
    with pytest.raises(Invalid, match="No embedder is called 'sage'"):
        Memory("s", url, embedder="sage")


# --- changed for another ---


def test_reembed_moves_every_scope_in_place(memory: Memory, url: str) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(300)])
    memory.revise(memory.remember("old words").id, "new words")
    with Memory("t", url, embedder=None) as other:
        other.remember_many(STORY)
    steps: list[Reembedded] = []
    done = memory.reembed(Other(), steps.append)
    assert done.finished
    assert (done.done, done.total) == (305, 305)
    assert [step.done for step in steps] == [256, 305]
    assert memory.stats().embedder.startswith("other 1 (96")
    assert memory.recall("green tea number 7")[0].why.meaning == pytest.approx(1, abs=0.01)
    assert (memory.stats().waiting, memory.doctor().findings) == (0, ())


def test_after_reembed_the_store_opens_with_the_new_one_only(memory: Memory, url: str) -> None:
    memory.remember_many(STORY)
    memory.reembed(Other())
    memory.remember("told after the move")
    with Memory("s", url, embedder=Other()) as again:
        assert [hit.content for hit in again.recall("told after the move", 1)] == [
            "told after the move"
        ]
    with pytest.raises(EmbedderMismatch, match="other"):
        Memory("s", url, embedder=MoodyEmbedder())


def test_reembed_to_the_same_embedder_does_nothing(memory: Memory) -> None:
    memory.remember("likes tea")
    assert memory.reembed(MoodyEmbedder()).finished


def test_an_empty_store_moves_at_once(memory: Memory) -> None:
    assert memory.reembed(Other()).finished
    assert memory.stats().embedder.startswith("other")


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_an_interrupted_reembed_goes_on_where_it_stopped(memory: Memory, calls: int) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(700)])
    with pytest.raises(EmbedderFailed, match="cut"):
        memory.reembed(Other(calls))
    assert memory.recall("green tea number 7")[0].why.meaning == pytest.approx(1, abs=0.01)
    memory.remember("told meanwhile")
    assert memory.doctor().healthy
    steps: list[Reembedded] = []
    assert memory.reembed(Other(), steps.append).finished
    assert len(steps) == 3 - calls
    assert memory.doctor().findings == ()


def test_another_reembed_begun_meanwhile_takes_over(memory: Memory) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(300)])
    with pytest.raises(EmbedderFailed):
        memory.reembed(Other(calls=1))
    memory.reembed(Hashing(32))
    assert memory.stats().embedder.startswith("hashing 1 (32")
    assert memory.doctor().findings == ()


def test_recall_and_remember_go_on_at_every_step(memory: Memory) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(600)])
    steps: list[int] = []

    def look(reached: Reembedded) -> None:
        steps.append(reached.done)
        if len(steps) < 4:  # what is told meanwhile is to be done as well
            memory.remember(f"told at step {len(steps)}")
        assert memory.recall("green tea number 7")[0].content == "green tea number 7"

    assert memory.reembed(Other(), look).finished
    assert memory.recall("told at step 1")[0].why.meaning == pytest.approx(1, abs=0.01)
    assert memory.doctor().findings == ()


def test_threads_that_recall_and_remember_never_notice_the_move(memory: Memory) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(600)])
    failures: list[Exception] = []
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            try:
                assert memory.recall("green tea number 7")[0].content == "green tea number 7"
                memory.remember("said again and again")
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for target in (Other(), Hashing(32), Other()):
        memory.reembed(target)
    over.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert memory.doctor().healthy


def test_who_was_open_meanwhile_is_told_and_not_given_garbage(url: str) -> None:
    embedders: list[Embedder] = [MoodyEmbedder(), MoodyEmbedder()]
    with Memory("s", url, embedder=embedders[0]) as mine:
        with Memory("s", url, embedder=embedders[1]) as theirs:
            mine.remember_many(STORY)
            theirs.recall("green tea")
            mine.reembed(Other())
            for call in (lambda: theirs.recall("green tea"), lambda: theirs.remember("more tea")):
                with pytest.raises(EmbedderMismatch, match="Open it anew"):
                    call()
            assert len(theirs.list()) == 3
        assert mine.doctor().findings == ()


def test_vectors_lost_or_cut_are_found_and_put_right(memory: Memory, tmp_path: Path) -> None:
    memory.remember_many(STORY)
    with sqlite3.connect(tmp_path / "memory.db") as db:
        db.execute("UPDATE memories SET vectors = NULL WHERE row = 1")
        db.execute("UPDATE memories SET vectors = substr(vectors, 3) WHERE row = 2")
    db.close()
    assert {finding.what for finding in memory.doctor().findings} == {
        "vectors of a wrong length",
        "memories that wait for their vector",
    }
    assert memory.doctor(repair=True).healthy
    assert memory.doctor().findings == ()
    assert memory.recall("green tea")[0].why.meaning is not None
