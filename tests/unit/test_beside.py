"""Work beside: it begins at once, and its end, good or bad, is what the one who waits gets."""

import threading

import pytest

from holdfast.beside import Beside


def test_it_is_under_way_while_its_maker_goes_on() -> None:
    began, may_end = threading.Event(), threading.Event()

    def work() -> str:
        began.set()
        return "done" if may_end.wait(30) else "never"

    beside = Beside(work)
    assert began.wait(30)
    may_end.set()
    assert (beside.wait(), beside.wait()) == ("done", "done")


def test_what_it_raises_is_raised_where_it_is_waited_for() -> None:
    def work() -> None:
        raise KeyError("lost")

    beside = Beside(work)
    with pytest.raises(KeyError, match="lost"):
        beside.wait()


def test_waiting_has_an_end() -> None:
    free = threading.Event()
    beside = Beside(lambda: free.wait(30))
    with pytest.raises(TimeoutError):
        beside.wait(0.05)
    free.set()
    assert beside.wait(30)
