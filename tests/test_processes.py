"""Many processes and threads on one file: each sees the others' writes at once, none is lost."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.embed.hashing import Hashing
from holdfast.engine.sqlite import rows

PEER = """
import sys, time
from holdfast import Conflict, Memory
def opened(url=sys.argv[1]):
    return Memory("s", url, embedder="hashing")
def wins(who, rounds):
    won = 0
    for n in range(rounds):
        try:
            memory.set(f"round {n}", who, if_version=0)
            won += 1
        except Conflict:
            pass
    return won
memory = opened() if sys.argv[1] else None
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""


class Peer:
    """Another process that has the store open, and answers expressions about its `memory`."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", PEER, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._hear() == "ready"

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def tell(self, expression: str) -> None:
        """Asks without waiting for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{expression}\n")
        self._process.stdin.flush()

    def heard(self) -> str:
        """The answer to what was asked."""
        return self._hear()

    def ask(self, expression: str) -> str:
        """The answer, as Python writes it."""
        self.tell(expression)
        return self._hear()

    def recall(self, query: str) -> str:
        """The words of what it recalls."""
        return self.ask(f"[hit.content for hit in memory.recall({query!r})]")

    def close(self) -> int:
        """Lets it end by itself; gives its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        code = self._process.wait(30)
        self._process.stdout.close()
        return code


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("s", url, embedder="hashing") as memory:
        yield memory


@pytest.fixture
def peers(url: str, memory: Memory) -> Iterator[Callable[[int], list[Peer]]]:
    started: list[Peer] = []

    def start(number: int) -> list[Peer]:
        started.extend(Peer(url) for _ in range(number))
        return started

    yield start
    assert [peer.close() for peer in started] == [0] * len(started)


@pytest.fixture
def peer(peers: Callable[[int], list[Peer]], memory: Memory) -> Peer:
    """A process that has already recalled something."""
    memory.remember("the car is red")
    (peer,) = peers(1)
    assert peer.recall("red car") == "['the car is red']"
    return peer


def test_what_one_process_remembers_another_recalls_at_once(memory: Memory, peer: Peer) -> None:
    for n in range(10):
        memory.remember(f"Ann's word {n} is xyzzy{n}")
        assert f"Ann's word {n} is xyzzy{n}" in peer.recall(f"xyzzy{n}")
        peer.ask(f"memory.remember('the answer {n} is plugh{n}')")
        assert memory.recall(f"plugh{n}")[0].content == f"the answer {n} is plugh{n}"


def test_what_one_process_forgets_another_forgets_at_once(memory: Memory, peer: Peer) -> None:
    id = memory.remember("Ann likes green tea").id
    assert peer.recall("green tea") == "['Ann likes green tea']"
    memory.forget(id)
    assert peer.recall("green tea") == "[]"
    assert peer.ask(f"memory.read({id!r})").startswith("NotFound")
    memory.purge()
    assert peer.recall("green tea") == "[]"
    assert peer.recall("red car") == "['the car is red']"


def test_what_one_process_revises_another_knows_at_once(memory: Memory, peer: Peer) -> None:
    id = memory.remember("Ann likes green tea").id
    assert peer.recall("green tea") == "['Ann likes green tea']"
    memory.revise(id, "Ann likes black coffee")
    assert peer.recall("black coffee") == "['Ann likes black coffee']"
    assert "Ann likes green tea" not in peer.recall("green tea")
    assert peer.ask(f"memory.revise({id!r}, 'Ann likes rum').version") == "3"
    assert [hit.content for hit in memory.recall("rum")] == ["Ann likes rum"]


def test_what_is_told_again_elsewhere_has_its_new_tags_and_life(memory: Memory, peer: Peer) -> None:
    memory.remember("Ann likes green tea", ttl=60)
    assert peer.ask("memory.remember('Ann likes green tea', tags=['x'], pinned=True).created") == (
        "False"
    )
    (hit,) = memory.recall("green tea", tags=["x"])
    assert (hit.memory.pinned, hit.memory.expires_at) == (True, None)
    memory.remember("Ann likes green tea", tags=["y"])
    assert peer.ask("len(memory.recall('green tea', tags=['x', 'y']))") == "1"


def test_state_is_one_for_all_processes(memory: Memory, peer: Peer) -> None:
    version = memory.set("k", {"n": 1}).version
    assert peer.ask("memory.get('k')") == "{'n': 1}"
    assert peer.ask(f"memory.set('k', 2, if_version={version}).value") == "2"
    assert memory.get("k") == 2
    assert peer.ask("memory.delete('k')") == "True"
    assert (memory.get("k"), memory.keys()) == (None, ())


def test_a_retry_in_another_process_is_still_a_retry(memory: Memory, peer: Peer) -> None:
    first = memory.remember("Ann likes green tea", idempotency_key="a")
    again = peer.ask("memory.remember('Ann likes green tea', idempotency_key='a')")
    assert again == repr(first)
    assert len(memory.list()) == 2


def test_uses_counted_elsewhere_are_seen_once_it_closes(
    url: str, memory: Memory, peer: Peer
) -> None:
    peer.ask("memory.close()")
    (found,) = memory.list()
    assert found.uses == 1


def test_a_second_door_that_fell_far_behind_catches_up(
    url: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "CHANGES_KEPT", 10)
    with Memory("s", url, embedder=Hashing()) as behind:
        for turn in range(3):
            notes = [{"content": f"note {turn} {n}", "tags": ["note"]} for n in range(1100)]
            memory.remember_many(notes)
            memory.remember(f"the one that stays is number {turn}")
            assert len(behind.recall(f"note {turn} 7", 1000)) > 0
            memory.forget(tags=["note"])
            found = behind.recall("note", 1000, min_score=0)
            assert len(found) == turn + 1


# --- threads ---


def test_eight_threads_lose_nothing(memory: Memory) -> None:
    ids: list[str] = []

    def write(who: int) -> None:
        for n in range(40):
            ids.append(memory.remember(f"thread{who} said word{n}").id)
            memory.increment("count")
            if n % 10 == 0:
                assert memory.recall(f"thread{who} word{n}")

    run([threading.Thread(target=write, args=(who,)) for who in range(8)])
    assert len(set(ids)) == memory.stats().memories == memory.get("count") == 320
    assert {it.id for it in memory.list(limit=1000)} == set(ids)
    assert memory.doctor().findings == ()


def test_threads_recall_while_others_write_and_forget(memory: Memory) -> None:
    memory.remember_many([f"green tea number {n}" for n in range(50)])
    over, troubles = threading.Event(), []

    def attempt(work: Callable[[int], object]) -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            try:
                work(turn)
            except Exception as error:
                troubles.append(repr(error))

    def change(turn: int) -> None:
        id = memory.remember(f"black coffee {turn} {threading.get_ident()}").id
        memory.revise(id, f"white coffee {turn} {threading.get_ident()}")
        memory.forget(id)

    def look(turn: int) -> None:
        assert memory.recall(f"green tea number {turn % 50}", 1)[0].content.startswith("green tea")
        assert memory.context("green tea")

    threads = [threading.Thread(target=attempt, args=(it,)) for it in (change, change, look, look)]
    threading.Timer(2.0, over.set).start()
    run(threads)
    assert troubles == []
    assert memory.stats().memories == 50
    assert memory.doctor().findings == ()


def test_one_threads_failure_is_its_own(memory: Memory) -> None:
    memory.remember("taken", id="taken")
    said: list[str] = []

    def write(who: int) -> None:
        for n in range(20):
            try:
                memory.remember(f"thread{who} said word{n}", id="taken" if n % 3 == 0 else None)
            except Exception as error:
                said.append(type(error).__name__)

    run([threading.Thread(target=write, args=(who,)) for who in range(8)])
    assert said == ["Conflict"] * (8 * 7)
    assert memory.stats().memories == 1 + 8 * 13


def test_more_writers_than_a_group_holds_are_all_answered(memory: Memory) -> None:
    answers: list[object] = []

    def write(n: int) -> None:
        answers.append(memory.set(f"key {n}", n).value)

    run([threading.Thread(target=write, args=(n,)) for n in range(600)])
    assert sorted(map(str, answers)) == sorted(map(str, range(600)))
    assert memory.stats().states == 600


def run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- many processes ---


@pytest.mark.slow
def test_four_processes_and_two_thousand_writes_lose_none(
    memory: Memory, peers: Callable[[int], list[Peer]]
) -> None:
    memory.remember("the car is red")
    *writers, reader = peers(5)
    assert reader.recall("red car") == "['the car is red']"
    for who, writer in enumerate(writers):
        told = f"memory.remember(f'note p{who}n{{n}}', tags=['p{who}'])"
        writer.tell(f"[{told}.created for n in range(500)].count(True)")
    assert [writer.heard() for writer in writers] == ["500"] * 4
    for who in range(4):
        found = f"hit.content for hit in memory.recall('note', 1000, tags=['p{who}'], min_score=0)"
        assert reader.ask(f"{{{found}}} == {{f'note p{who}n{{n}}' for n in range(500)}}") == "True"
    by_its_own_word = "memory.recall(f'p{who}n{n}', 1)[0].content == f'note p{who}n{n}'"
    some = "for who in range(4) for n in range(who, 500, 5)"
    assert reader.ask(f"sum({by_its_own_word} {some})") == "400"
    assert memory.stats().memories == 2001
    assert memory.doctor().findings == ()


def test_compare_and_set_has_one_winner_among_processes(
    memory: Memory, peers: Callable[[int], list[Peer]]
) -> None:
    for who, peer in enumerate(peers(4)):
        peer.tell(f"wins({who}, 50)")
    won = [int(peer.heard()) for peer in peers(0)]
    assert sum(won) == 50
    assert all(memory.entry(f"round {n}").version == 1 for n in range(50))


def test_increments_and_appends_of_processes_add_up(
    memory: Memory, peers: Callable[[int], list[Peer]]
) -> None:
    for who, peer in enumerate(peers(4)):
        peer.tell(
            f"[(memory.increment('n'), memory.append('log', [{who}, n])) for n in range(40)] and 1"
        )
    assert [peer.heard() for peer in peers(0)] == ["1"] * 4
    log = memory.get("log")
    assert (memory.get("n"), memory.entry("n").version, len(log)) == (160, 160, 160)
    for who in range(4):
        assert [n for each, n in log if each == who] == list(range(40))


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    openers = [Peer("") for _ in range(4)]
    for turn in range(5):
        url = f"sqlite:///{tmp_path}/new-{turn}/memory.db"
        at = time.time() + 0.1
        for who, opener in enumerate(openers):
            waits, opens = f"time.sleep(max(0, {at} - time.time()))", f"opened({url!r})"
            opener.tell(f"({waits}, {opens}.remember('note {who}').created)[1]")
        assert [opener.heard() for opener in openers] == ["True"] * 4
        with Memory("s", url) as memory:
            assert memory.stats().memories == 4
            assert memory.doctor().findings == ()
    assert [opener.close() for opener in openers] == [0] * 4


# --- fork ---

FORK = """
import os, signal, sys, threading, traceback
from holdfast import Memory

memory = Memory("s", sys.argv[1], embedder="hashing")
memory.remember("before the fork")
memory.recall("before the fork")

def busy(who):
    n = 0
    while True:
        n += 1
        memory.set(f"busy {who}", n)
        memory.recall(f"fork {n % 7}")

def child(turn):
    signal.alarm(20)  # a child that hangs ends by this
    memory.remember(f"child {turn} wrote this")
    assert memory.recall(f"child {turn} wrote this")[0].content == f"child {turn} wrote this"
    assert memory.recall("before the fork")
    with Memory("s", sys.argv[1], embedder="hashing") as again:
        assert again.read(memory.list()[0].id)

def forked(turn):
    pid = os.fork()
    if pid == 0:
        try:
            child(turn)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    memory.remember(f"parent wrote {turn}")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

for who in range(int(sys.argv[2])):
    threading.Thread(target=busy, args=(who,), daemon=True).start()
codes = []
while len(codes) < int(sys.argv[3]) and not any(codes):
    codes.append(forked(len(codes)))
if not any(codes):
    assert memory.stats().memories == 1 + 2 * len(codes), memory.stats()
    assert memory.doctor().findings == (), memory.doctor()
print(codes, flush=True)
os._exit(0)  # the busy ones are left behind
"""


def forked(url: str, threads: int, times: int) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK, url, str(threads), str(times)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr


def test_after_a_fork_both_read_and_write(url: str) -> None:
    assert forked(url, threads=0, times=3) == "[0, 0, 0]"


@pytest.mark.slow
def test_a_fork_while_threads_are_busy_harms_nobody(url: str) -> None:
    assert forked(url, threads=3, times=8) == str([0] * 8)
