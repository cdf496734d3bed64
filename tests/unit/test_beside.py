"""Work beside: it begins at once, and its end, good or bad, is what the one who waits gets."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from holdfast.beside import Soon, beside


def test_it_is_under_way_while_its_maker_goes_on() -> None:
    began, may_end = threading.Event(), threading.Event()

    def work() -> str:
        began.set()
        return "done" if may_end.wait(30) else "never"

    answer = beside(work)
    assert began.wait(30)
    may_end.set()
    assert (answer(), answer()) == ("done", "done")


def test_what_it_raises_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        raise KeyError("lost")

    answer = beside(work)
    with pytest.raises(KeyError, match="lost"):
        answer()


def test_a_forked_child_has_threads_of_its_own() -> None:
    assert beside(lambda: 1)() == 1
    child = os.fork()
    if child == 0:
        os._exit(7 if beside(lambda: threading.current_thread().name)() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_at_the_end_of_a_process_it_is_done_on_the_spot() -> None:
    code = """if True:
        import threading
        from holdfast.beside import Soon, beside
        beside(int)()
        threading._register_atexit(lambda: print(beside(lambda: "still done")()))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "still done\n"


def test_what_is_named_is_done_soon_and_once() -> None:
    done, free = list[str](), threading.Event()

    def work(name: str) -> None:
        free.wait(30)
        done.append(name)

    soon = Soon(work)
    for name in ("a", "b", "b", "c", "b"):
        soon.name(name)
    free.set()
    soon.wait()
    assert done == ["a", "b", "c"]
    soon.name("d")
    soon.wait()
    assert done[-1] == "d"


def test_what_is_named_in_the_pause_is_done_together_and_whoever_waits_ends_it() -> None:
    rounds: list[str] = []
    soon = Soon(rounds.append, pause=600)
    for _ in range(5):
        soon.name("a")
    soon.name("b")
    assert rounds == []
    assert soon.awaits(["b"])
    assert not soon.awaits(["c"])
    soon.wait()
    assert rounds == ["a", "b"]
    assert not soon.awaits(["a", "b"])


def test_a_thing_is_awaited_until_its_work_is_done() -> None:
    began, free = threading.Event(), threading.Event()

    def work(_: str) -> None:
        began.set()
        free.wait(30)

    soon = Soon(work)
    soon.name("a")
    assert began.wait(30)
    assert soon.awaits(["a"])
    free.set()
    soon.wait()
    assert not soon.awaits(["a"])


def test_a_child_goes_on_where_its_parent_was_at_work() -> None:
    free = threading.Event()
    soon: Soon[str] = Soon(lambda _: free.wait(30))
    soon.name("parent")
    child = os.fork()
    if child == 0:
        free.set()
        soon.name("child")
        soon.wait()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    free.set()
    soon.wait()


def test_a_work_that_fails_keeps_no_other_from_being_done() -> None:
    done: list[str] = []

    def work(name: str) -> None:
        if name == "bad":
            raise KeyError(name)
        done.append(name)

    soon = Soon(work)
    soon.name("bad")
    with suppress(KeyError):  # unless it has ended already
        soon.wait()
    assert not soon.awaits(["bad"])
    soon.name("good")
    soon.wait()
    assert done == ["good"]
