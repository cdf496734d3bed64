"""A memory beside an agent: in time, without loss, and never in the way."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import Busy, Invalid, Memory, StoreFull, Unavailable
from holdfast.integrations import worker
from holdfast.integrations.companion import WARM_UP, Companion, outcome
from holdfast.integrations.tools import schemas, tools
from holdfast.integrations.turns import Said, TurnPolicy
from holdfast.integrations.worker import Answering, Write, Writing
from tests.waiting import until


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("agent", url, embedder="hashing") as memory:
        yield memory


def contents(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(limit=1000)]


def test_what_is_worth_it_is_kept_once(memory: Memory) -> None:
    companion = Companion(memory, TurnPolicy(learn_every=0))
    for text in ("ok", "Ann likes green tea", "Ann likes green tea", "why?"):
        companion.hear(Said(text, "Ann"))
    assert contents(memory) == ["Ann likes green tea"]
    assert (companion.counts.kept, companion.counts.skipped) == (1, 3)


def test_what_was_said_together_is_kept_in_one_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion, many = Companion(memory, TurnPolicy(learn_every=0)), memory.remember_many
    written: list[int] = []

    def counted(items: list[Any], *more: Any, **how: Any) -> Any:
        written.append(len(items))
        return many(items, *more, **how)

    monkeypatch.setattr(memory, "remember_many", counted)
    said = ["Ann likes green tea", "ok", "Bob prefers black coffee", "Ann likes green tea"]
    companion.hear_all([(Said(text, "Ann"), True) for text in said], "chat-7")
    assert written == [2]
    assert sorted(contents(memory)) == ["Ann likes green tea", "Bob prefers black coffee"]
    assert {record.session for record in memory.list()} == {"chat-7"}


def test_one_that_is_refused_takes_no_other_with_it(memory: Memory) -> None:
    companion = Companion(memory, TurnPolicy(learn_every=0))
    said = ["Ann likes green tea", "half a \ud800 character is no text", "Bob likes coffee"]
    companion.hear_all([(Said(text, "Ann"), True) for text in said])
    assert companion.drain() == 0
    assert sorted(contents(memory)) == ["Ann likes green tea", "Bob likes coffee"]
    assert companion.counts.refused == 1


def test_what_was_shown_is_not_kept_again(memory: Memory) -> None:
    memory.remember("The vault code of the office is 4711")
    companion = Companion(memory, TurnPolicy(learn_every=0))
    assert "4711" in companion.context(["what is the vault code of the office?"])
    companion.hear(Said("I know: the vault code of the office is 4711.", "bot", "agent"))
    assert len(contents(memory)) == 1
    companion.hear(Said("The vault code of the office is now 4712, since Monday.", "Ann"))
    assert len(contents(memory)) == 2


def test_a_question_that_takes_too_long_is_given_up_and_the_next_does_not_wait() -> None:
    answering, free = Answering(), threading.Event()
    began = time.monotonic()
    with pytest.raises(Exception, match="more than"):
        answering.ask(lambda: free.wait(60), 0.1)
    with pytest.raises(Exception, match="still answers"):
        answering.ask(lambda: 1, 5)
    assert time.monotonic() - began < 20  # and not a minute
    free.set()

    def answers() -> bool:
        try:
            return answering.ask(lambda: 2, 5) == 2
        except Unavailable:
            return False

    until(answers)


def test_a_write_is_on_disk_when_the_turn_goes_on(memory: Memory) -> None:
    write = Companion(memory).keep("tea is green", "fact")
    assert write.done.is_set()
    assert outcome(write, "done") == "done"
    assert contents(memory) == ["tea is green"]


def test_what_fails_is_done_later_in_order_and_once() -> None:
    broken, done = [True], list[int]()

    def work(number: int) -> None:
        if broken[0]:
            raise StoreFull("no room")
        done.append(number)

    writing = Writing(30, lambda: None)
    for number in range(5):
        assert not writing.put(Write("remember", lambda number=number: work(number)), 0.01)  # type: ignore[misc]
    assert writing.put(Write("set", lambda: done.append(99)), 5)  # another verb need not wait
    broken[0] = False
    assert writing.drain(60) == 0
    assert done == [99, 0, 1, 2, 3, 4]
    assert writing.failures > 0


def test_what_no_retry_can_help_is_refused_and_told(memory: Memory) -> None:
    companion = Companion(memory)
    write = companion.keep("tea", "two words")
    assert "refused" in outcome(write, "")
    assert companion.counts.refused == 1
    assert companion.counts.waiting == 0


def test_too_much_that_waits_is_counted_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MOST_WAITING", 2)
    stuck = threading.Event()

    def never() -> None:
        if not stuck.is_set():
            raise Busy("later")

    writing = Writing(30, lambda: None)
    for _ in range(3):
        writing.put(Write("remember", never), 0.0)
    assert (writing.waiting, writing.lost) == (2, 1)
    stuck.set()
    assert writing.drain(60) == 0


def test_a_turn_has_its_time_and_no_more(memory: Memory) -> None:
    companion, free = Companion(memory, TurnPolicy(seconds=0.5)), threading.Event()
    companion.begin()
    began = time.monotonic()
    assert companion.ask(lambda: free.wait(60), True) is True
    for _ in range(40):
        companion.write("remember", lambda: free.wait(60))
    took = time.monotonic() - began
    free.set()
    assert took < 10  # with its time for each of them it would be twice as long
    assert companion.counts.longest <= took
    assert companion.counts.recalls_failed == 1
    assert companion.drain(60) == 0


def test_inside_an_event_loop_it_waits_less(memory: Memory) -> None:
    async def turn() -> float:
        companion = Companion(memory, TurnPolicy(seconds=60))
        companion.begin()
        began = time.monotonic()
        companion.ask(lambda: free.wait(60), True)
        return time.monotonic() - began

    free = threading.Event()
    assert asyncio.run(turn()) < 20
    free.set()


def test_it_learns_every_few_messages_and_at_the_end(memory: Memory) -> None:
    companion = Companion(memory, TurnPolicy(learn_every=2), session="s")
    companion.hear(Said("I prefer green tea over coffee.", "Ann"))
    companion.hear(Said("I live in Lisbon.", "Ann"))
    companion.hear(Said("My name is Ann Lee.", "Ann"))
    assert companion.drain(60) == 0
    assert memory.list(kinds=["preference"])
    learned = len(contents(memory))
    assert companion.finish() == 0
    assert len(contents(memory)) > learned


def test_it_learns_when_it_has_been_quiet(memory: Memory) -> None:
    companion = Companion(memory, TurnPolicy(quiet=0.1))
    companion.hear(Said("I prefer green tea over coffee.", "Ann"), keep=False)
    until(lambda: memory.list(kinds=["preference"]))


def test_threads_with_nothing_to_do_end_and_others_take_their_place(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "IDLE_SECONDS", 0.05)
    companion = Companion(memory, TurnPolicy(quiet=0.05, learn_every=0))
    for number in range(3):
        companion.begin()
        companion.hear(Said(f"Shop {number} sells tea number {number}", "Ann"))
        assert "sells tea" in companion.context([f"what does shop {number} sell?"])
        until(lambda: not (companion.writing._thread or companion._answering._thread))
    assert len(contents(memory)) == 3


def test_it_warms_up_once_and_goes_on_counting(memory: Memory) -> None:
    companion = Companion(memory)
    companion.warm_up()
    assert companion.counts.recalls == 0
    companion.context(["what is known about green tea?"])
    memory.close()
    companion.context(["what is known about black tea?"])
    companion.warm_up()  # it takes another place beside an agent
    assert (companion.counts.recalls, companion.counts.recalls_failed) == (2, 1)


def test_a_greeting_asks_with_the_hint(memory: Memory) -> None:
    memory.remember("The vault code of the office is 4711")
    companion = Companion(memory, hint="what is the vault code of the office?")
    assert "4711" in companion.context(["hello"])
    assert Companion(memory).context(["hello"]) == ""


def test_only_a_memory_will_do() -> None:
    with pytest.raises(Invalid, match="Memory"):
        Companion("agent")  # type: ignore[arg-type]


def test_a_forked_child_has_its_own_threads(memory: Memory) -> None:
    companion = Companion(memory, TurnPolicy(seconds=20, learn_every=0))
    companion.hear(Said("Ann likes green tea", "Ann"))
    companion.context(["what does Ann like?"])
    if (child := os.fork()) == 0:
        companion.begin()
        known = "green tea" in companion.context(["what does Ann like?"])
        companion.hear(Said("Bo likes black tea", "Bo"))
        os._exit(0 if known and companion.counts.waiting == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert set(contents(memory)) == {"Ann likes green tea", "Bo likes black tea"}


def test_tools_answer_in_words(memory: Memory) -> None:
    run = tools(Companion(memory), "bot")
    assert run["recall"]("tea") == "Nothing relevant is known."
    id = run["remember"]("Ann likes green tea", "preference", ["tea"]).split()[-1].rstrip(").")
    assert run["recall"]("which tea does Ann like?").startswith(f"{id} [preference, ")
    assert "refused" in run["remember"]("")
    assert run["update"](id, "Ann likes black tea") == "Updated."
    assert run["forget"](id) == "Forgotten."
    assert "no memory" in run["forget"](id)
    assert "refused" in run["update"](id, "again")


def test_tools_are_warm_before_they_are_used(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(memory, "recall", lambda query, *_, **__: asked.append(query))
    companion = Companion(memory)
    for _ in range(2):
        tools(companion)
    assert asked == [WARM_UP]


def test_the_schemas_are_those_of_the_tools(memory: Memory) -> None:
    import inspect

    run = tools(Companion(memory))
    for schema in schemas():
        parameters = inspect.signature(run[schema["name"]]).parameters
        assert list(schema["parameters"]["properties"]) == list(parameters)
        needed = [name for name, one in parameters.items() if one.default is one.empty]
        assert schema["parameters"]["required"] == needed
        assert run[schema["name"]].__doc__ == schema["description"]
