"""What is indexed of memories' words, compared with what would be now: old stores read again."""

import sqlite3
from collections.abc import Iterator

import pytest

from holdfast import Memory
from holdfast.backend import open_backend
from holdfast.extract import taught
from holdfast.testing import FakeClock

LACKING = "memories of which more can be told than is indexed"


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("s", backend=open_backend(url, "hashing", FakeClock())) as memory:
        yield memory


def lose(url: str, attribute: str) -> None:
    """Makes a store one whose writer did not know an attribute yet."""
    with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
        of_it = "SELECT id FROM slots WHERE attribute = ?"
        sql = f"DELETE FROM slots WHERE attribute IN (?, 'about') AND id IN ({of_it})"
        db.execute(sql, (attribute, attribute))


def test_what_an_older_version_did_not_read_is_found_and_read(
    memory: Memory, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taught, "opened", lambda: None)  # what is read by slots
    old = memory.remember("Ann lives in Berlin", reconcile=True).id
    memory.remember("Ann speaks Thai", reconcile=True)
    memory.remember("Ann's car is red")  # not read yet: nobody reconciled since
    assert memory.doctor().healthy
    lose(url, "home")
    assert memory.remember("Ann lives in Lisbon now", reconcile=True).superseded == ()
    lose(url, "home")
    (found,) = memory.doctor().findings
    assert (found.what, found.count, found.repaired) == (LACKING, 1, False)
    (found,) = memory.doctor(repair=True).findings
    assert (found.what, found.count, found.repaired) == (LACKING, 1, True)
    assert memory.doctor().healthy
    assert old in memory.remember("Ann lives in Porto now", reconcile=True).superseded


def test_many_are_read_in_parts(memory: Memory, url: str) -> None:
    told = [{"content": f"Person{n} lives in Berlin", "reconcile": True} for n in range(1200)]
    memory.remember_many(told)
    lose(url, "home")
    assert [found.count for found in memory.doctor(repair=True).findings] == [
        1199
    ]  # the last is not read yet
    assert memory.doctor().findings == ()


def test_what_is_true_again_can_be_corrected_again(memory: Memory) -> None:
    old = memory.remember("Ann lives in Berlin", reconcile=True, source="ann").id
    memory.remember("Ann lives in Lisbon now", reconcile=True, source="eve")
    memory.rollback("eve")
    again = memory.remember("Ann lives in Porto now", reconcile=True, source="ann")
    assert again.superseded == (old,)
    assert memory.doctor().healthy
