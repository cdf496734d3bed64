"""The walks in ARCHITECTURE.md name functions that exist and are entered in that order."""

import inspect
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import pytest

from holdfast import Memory
from tests.markdown import ROOT, blocks


def walks() -> list[list[str]]:
    """The functions named by each ```walk block: `module.Class.function — what it does`."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    found = [block.code.splitlines() for block in blocks(page) if block.language == "walk"]
    return [[line.split(" — ")[0].strip() for line in walk if line.strip()] for walk in found]


def code_of(name: str) -> CodeType:
    thing: Any = pkgutil.resolve_name(name)
    function: Any = inspect.unwrap(getattr(thing, "fget", thing))  # a property's getter, or itself
    code: CodeType = function.__code__
    return code


@contextmanager
def entered(names: dict[CodeType, str]) -> Iterator[list[str]]:
    """The names of the functions entered meanwhile, in this thread and those started from now."""
    log: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (name := names.get(frame.f_code)):
            log.append(name)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield log
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def first_astray(walk: list[str], log: list[str]) -> str | None:
    """The first step that was not entered after the step before it."""
    steps = iter(log)
    return next((name for name in walk if name not in steps), None)


def remember(memory: Memory) -> object:
    return memory.remember("Use PostgreSQL, not MongoDB, for the main store", kind="decision")


def recall(memory: Memory) -> object:
    return memory.recall("which PostgreSQL store did we choose?")


def test_there_is_a_walk_for_remember_and_one_for_recall() -> None:
    assert len(walks()) == 2
    assert all(len(walk) > 2 for walk in walks())
    assert [walk[0].rpartition(".")[2] for walk in walks()] == ["remember", "recall"]


@pytest.mark.parametrize(("number", "verb"), [(0, remember), (1, recall)])
def test_the_functions_are_entered_in_the_order_of_the_walk(
    number: int, verb: Callable[[Memory], object], url: str
) -> None:
    walk = walks()[number]
    names = {code_of(name): name for name in walk}
    for name in walk:  # another test may have used the same words
        getattr(pkgutil.resolve_name(name), "cache_clear", int)()
    with entered(names) as log, Memory("walk", url) as memory:
        remember(memory)
        if verb is recall:
            log.clear()
            assert recall(memory)
        taken = list(log)
    astray = first_astray(walk, taken)
    assert astray is None, f"{astray} was not entered at its place; entered were: {taken}"


def test_a_walk_in_the_wrong_order_or_with_a_step_too_many_is_caught() -> None:
    assert first_astray(["a", "b"], ["a", "c", "a", "b"]) is None
    assert first_astray(["b", "a"], ["a", "b"]) == "a"
    assert first_astray(["a", "b", "c"], ["a", "b"]) == "c"


def test_a_function_that_does_not_exist_is_caught() -> None:
    with pytest.raises(AttributeError):
        code_of("holdfast.Memory.no_such_verb")


def test_functions_entered_in_another_thread_are_seen() -> None:
    with entered({recall.__code__: "recall"}) as log:
        worker = threading.Thread(target=recall, args=[_Deaf()])
        worker.start()
        worker.join()
    assert log == ["recall"]


class _Deaf:
    def recall(self, _: str) -> None:
        return None
