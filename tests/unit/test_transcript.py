"""Messages in order, whoever writes them."""

import threading
from collections.abc import Iterator

import pytest

from holdfast import Memory
from holdfast.integrations.transcript import Transcript


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("log", url, embedder="hashing") as memory:
        yield memory


def test_messages_come_back_in_order(memory: Memory) -> None:
    log = Transcript(memory, "chat/a")
    assert log.messages() == []
    for number in range(40):
        log.append({"n": number})
    assert Transcript(memory, "chat/a").messages() == [{"n": number} for number in range(40)]
    Transcript(memory, "chat/a").append("more")
    assert Transcript(memory, "chat/a").messages()[-1] == "more"
    assert len(memory.keys("chat/a/0")) == 3  # a few to a key


def test_the_same_entry_again_is_one_message(memory: Memory) -> None:
    log = Transcript(memory, "chat/a")
    entry = log.entry("once")
    log.add(entry)
    log.add(entry)
    log.append("twice")
    log.append("twice")
    assert log.messages() == ["once", "twice", "twice"]


def test_large_messages_get_a_key_of_their_own(memory: Memory) -> None:
    log = Transcript(memory, "chat/a")
    large = ["x" * 700_000, "y" * 700_000, "small"]
    for message in large:
        log.append(message)
    assert log.messages() == large


def test_a_fresh_run_leaves_the_one_before(memory: Memory) -> None:
    log = Transcript(memory, "chat/a")
    log.append("old")
    assert log.fresh() == 2
    log.append("new")
    assert log.messages() == ["new"]
    assert log.messages(run=1) == ["old"]
    assert Transcript(memory, "chat/a").messages() == ["new"]


def test_one_log_is_not_another(memory: Memory) -> None:
    Transcript(memory, "chat/a").append("a")
    assert Transcript(memory, "chat/ab").messages() == []


def test_many_writers_lose_and_repeat_nothing(memory: Memory) -> None:
    def write(name: str) -> None:
        log = Transcript(memory, "chat/a")
        for number in range(25):
            log.append(f"{name}{number}")

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = Transcript(memory, "chat/a").messages()
    assert len(found) == len(set(found)) == 100
    for name in "abcd":
        assert [it for it in found if it[0] == name] == [f"{name}{n}" for n in range(25)]


def test_more_than_a_page_is_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.integrations.transcript.PAGE", 3)
    monkeypatch.setattr("holdfast.integrations.transcript.TOGETHER", 1)
    log = Transcript(memory, "chat/a")
    for number in range(10):
        log.append(number)
    assert Transcript(memory, "chat/a").messages() == list(range(10))


def test_what_is_not_json_is_kept_as_text(memory: Memory) -> None:
    log = Transcript(memory, "chat/a")
    log.append({"what": {1, 2}.__class__})
    assert log.messages() == [{"what": "<class 'set'>"}]
