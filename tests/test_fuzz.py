"""Garbage into every verb: typed errors come out, and the store is as it was."""

import inspect
import math
from collections import UserDict, UserList
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

from holdfast import HoldfastError, Invalid, Memory, Source, TooLarge, Weights

KNOWN = "known-id"


class Nowhere(tzinfo):
    """A time zone that does not know its offset."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "nowhere"


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def named(value: Any) -> str:
    """A short name for a value, however large."""
    if isinstance(value, int) and abs(value) > 10**99:
        return f"10**{int(math.log10(abs(value)))}"
    try:
        return f"{value!r:.40}"
    except RecursionError:
        return "deep"


RING: list[Any] = []
RING.append(RING)
TEXTS: list[Any] = [
    *("", " ", "\n", "\x00", "a\x00b", "\ud800", "a\udfffb", "x" * 33_000, "🎉" * 9_000, "\u202e"),
    *(" scope", "tab\there", "line\nbreak", "\u200b", "\x7f", "x" * 257, "~no such user/x", "."),
    *("'; DROP TABLE memories; --", '"', "%", "_", "*", "NEAR(", "- :"),
]
THINGS: list[Any] = [
    *(None, True, False, 0, 1, -1, 10**30, 10**400, 10**5000, 1.5, -0.0, math.nan, math.inf),
    *(b"bytes", bytearray(b"x"), 1j, Decimal("1.5"), Fraction(1, 3), np.float32(1), np.int64(3)),
    *([], [None], [1], ["a", "a"], [["a"]], ("a",), {"a"}, frozenset(), {}, {"a": 1}, {1: 2}),
    *({"a": math.nan}, {"a": {1, 2}}, {"\ud800": 1}, {"a": "\x00"}, {"n": 10**400}, {"n": 2**63}),
    *(deep(65), deep(5000), RING, {"a": "x" * 70_000}, ["x" * 300] * 100, ["x"] * 70),
    *(object(), object, len, Ellipsis, UserDict(a=1), UserList("ab"), Path("x"), range(3)),
    *(date(2026, 1, 1), timedelta(0), timedelta(-1), timedelta.max, timedelta(microseconds=1)),
    datetime(2026, 1, 1),  # noqa: DTZ001 - the point of the test
    datetime(2026, 1, 1, tzinfo=Nowhere()),
    datetime.min.replace(tzinfo=timezone.utc),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    datetime(1, 1, 2, tzinfo=timezone(timedelta(hours=23, minutes=59))),
    *(Weights(), Weights(2, 2, 2), Weights(math.nan, 0, 1), Weights(-1, 1, 1), Weights("a", 0, 1)),  # type: ignore[arg-type]
    *(Weights(10**400, 0, 0), Source(""), Source("a", "king"), Source("a", []), Source("a\n")),  # type: ignore[arg-type]
    Source(None),  # type: ignore[arg-type]
]
GARBAGE = {f"{n}: {named(value)}": value for n, value in enumerate([*TEXTS, *THINGS])}
VERBS = [
    *("remember", "remember_many", "revise", "recall", "context", "explain", "read", "history"),
    *("list", "forget", "set", "get", "entry", "append", "increment", "delete", "keys"),
    *("import_", "backup", "doctor", "reembed"),
]
NEEDED: dict[str, dict[str, Any]] = {  # what is right, so that one thing at a time is wrong
    "remember": {"content": "likes tea"},
    "remember_many": {"items": ["likes tea"]},
    "revise": {"id": "never-was", "content": "likes coffee"},
    "recall": {"query": "tea"},
    "context": {"query": "tea"},
    "explain": {"id": KNOWN, "query": "tea"},
    "read": {"id": KNOWN},
    "history": {"id": KNOWN},
    "forget": {"id": "never-was"},
    "set": {"key": "k", "value": 1, "if_version": 99},
    "get": {"key": "k"},
    "entry": {"key": "k"},
    "append": {"key": "k", "item": 1, "if_version": 99},
    "increment": {"key": "k", "if_version": 99},
    "delete": {"key": "k", "if_version": 99},
    "import_": {"lines": []},
    "backup": {"path": "no/such/\x00"},
    "reembed": {"embedder": "sage"},
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    url = f"sqlite:///{tmp_path_factory.mktemp('fuzz') / 'memory.db'}"
    with Memory("fuzz", url, embedder="hashing") as memory:
        memory.remember("Ann likes green tea", id=KNOWN, tags=["a"], session="s")
        yield memory


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def arguments() -> list[tuple[str, str]]:
    """Every verb with each of its arguments."""
    return [
        (verb, name)
        for verb in VERBS
        for name in inspect.signature(getattr(Memory, verb)).parameters
        if name != "self"
    ]


def test_every_verb_is_fuzzed() -> None:
    public = {name for name in vars(Memory) if not name.startswith("_")}
    assert public - set(VERBS) == {"close", "purge", "export", "stats", "outbox"}  # take nothing


def trouble(memory: Memory, verb: str, given: dict[str, Any]) -> str | None:
    """What is wrong with how a verb takes this; it may answer, or raise an error of ours."""
    try:
        getattr(memory, verb)(**given)
    except HoldfastError as error:
        return None if error.message else f"{type(error).__name__} says nothing"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def put_right(memory: Memory) -> None:
    """Takes away what was rightly taken in; what was there before must be there still."""
    for it in memory.list(limit=1000):
        if it.id != KNOWN:
            memory.forget(it.id)
    for key in memory.keys():  # noqa: SIM118 - a verb
        memory.delete(key)
    _, line = memory.export()
    assert '"Ann likes green tea"' in line


@pytest.mark.parametrize(("verb", "name"), arguments(), ids=lambda word: word)
def test_garbage_in_one_argument_is_a_typed_error(memory: Memory, verb: str, name: str) -> None:
    troubles = {
        label: found
        for label, value in GARBAGE.items()
        if (found := trouble(memory, verb, {**NEEDED.get(verb, {}), name: value}))
    }
    put_right(memory)
    assert memory.doctor().healthy
    assert troubles == {}


@settings(max_examples=200, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
def test_garbage_in_every_argument_at_once_is_a_typed_error(
    memory: Memory, data: st.DataObject
) -> None:
    verb = data.draw(st.sampled_from(VERBS))
    names = [name for each, name in arguments() if each == verb]
    given = dict(NEEDED.get(verb, {}))
    for name in data.draw(st.lists(st.sampled_from(names), unique=True)):
        label = data.draw(st.sampled_from(sorted(GARBAGE)))
        given[name] = GARBAGE[label]
    if verb == "forget":  # else it may well be told to forget what is known
        given["id"] = "never-was"
    assert trouble(memory, verb, given) is None


@settings(max_examples=200)
@given(content=st.text(), name=st.text(), value=st.floats() | st.integers() | st.binary())
def test_any_text_is_taken_or_refused(memory: Memory, content: str, name: str, value: Any) -> None:
    for verb, told in (
        ("remember", {"content": content, "kind": name, "meta": {name: value}, "id": name}),
        ("recall", {"query": content, "session": name, "meta": {name: value}}),
        ("set", {"key": name, "value": [content, value]}),
        ("keys", {"prefix": name, "after": content}),
        ("import_", {"lines": [content, name]}),
    ):
        assert trouble(memory, verb, told) is None
    if content.strip() and trouble(memory, "remember", {"content": content}) is None:
        with suppress(Invalid):
            assert memory.recall(content, 1000, min_score=0)
    put_right(memory)


@pytest.mark.parametrize(
    "scope",
    [
        *("", " ", " a", "a ", "a\nb", "a\tb", "a\x00b", "\ud800", "a\x7f", "\u200b", "a\u202eb"),
        *("a\u2028b", "x" * 257, None, 7, b"a", ["a"], True),
    ],
    ids=repr,
)
def test_a_scope_that_is_no_name_is_refused(url: str, scope: Any) -> None:
    with pytest.raises(Invalid, match="scope"):
        Memory(scope, url, embedder=None)


@pytest.mark.parametrize(
    "url",
    [
        *(7, b"sqlite:///x", "", "x", "sqlite", "sqlite://", "sqlite://x", "sqlite:///\x00"),
        pytest.param("postgresql://x", marks=pytest.mark.slow),  # it is waited for
        *("sqlite:///~no-such-user/x.db", "sqlite:///" + "x" * 5000),
        *("sqlite:///", "sqlite:///\ud800.db", "SQLITE:///x", "file:///x"),
    ],
)
def test_a_url_that_names_no_store_is_refused(url: Any) -> None:
    try:
        Memory("s", url, embedder=None).close()
    except HoldfastError as error:
        said = error.message
    else:
        said = "opened"
    assert said != "opened" or url == ""  # no url at all is the default


@pytest.mark.parametrize("embedder", [7, "", "sage", object(), b"hashing", [], Memory])
def test_what_is_no_embedder_is_refused(url: str, embedder: Any) -> None:
    with pytest.raises(Invalid, match="embedder"):
        Memory("s", url, embedder=embedder)


@pytest.mark.parametrize("embedder", [7, object(), None, b"hashing"])
def test_nor_is_a_store_moved_to_one(memory: Memory, embedder: Any) -> None:
    with pytest.raises(Invalid, match="embedder"):
        memory.reembed(embedder)


def test_one_text_is_not_several_scopes(memory: Memory) -> None:
    with pytest.raises(Invalid, match="scopes"):
        memory.recall("tea", scopes="fuzz")


def test_a_backup_goes_to_a_path_and_nowhere_else(memory: Memory, tmp_path: Path) -> None:
    for path in (7, None, b"x", ["x"], True):
        with pytest.raises(Invalid, match="path"):
            memory.backup(path)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_path_object_is_a_path_too(memory: Memory, tmp_path: Path) -> None:
    assert memory.backup(tmp_path / "copy.db") > 0  # type: ignore[arg-type]


@pytest.mark.parametrize("argument", ["contents", "ttl_days", "user_id"])
def test_an_unknown_argument_is_pythons_own_error(memory: Memory, argument: str) -> None:
    with pytest.raises(TypeError, match=argument):
        memory.remember("likes tea", **{argument: 1})  # type: ignore[arg-type]


def test_too_much_says_how_much_would_do(memory: Memory) -> None:
    for call, limit in (
        (lambda: memory.remember("x" * 32_769), "32768"),
        (lambda: memory.remember("x", meta={"a": "x" * 65_536}), "65536"),
        (lambda: memory.set("k", "x" * 1_048_577), "1048576"),
        (lambda: memory.remember_many(["x"] * 10_001), "10000"),
    ):
        with pytest.raises(TooLarge, match=limit) as refused:
            call()
        assert refused.value.advice


def test_a_list_cannot_grow_past_what_a_value_may_have(memory: Memory) -> None:
    memory.set("big", ["x" * 1_048_000])
    with pytest.raises(TooLarge):
        memory.append("big", "x" * 1000)
    assert len(memory.get("big")) == 1
    memory.delete("big")


@pytest.mark.parametrize("held", [10**299, 1.7e308, -(10**299)], ids=["huge", "vast", "tiny"])
@pytest.mark.parametrize("by", [2**53, 0.5, -1])
def test_a_number_of_any_size_can_be_added_to(memory: Memory, held: float, by: float) -> None:
    memory.set("n", held)
    assert memory.increment("n", by).value == memory.get("n") == held + by
    memory.delete("n")


def test_a_sum_too_big_to_keep_leaves_the_number_alone(memory: Memory) -> None:
    most = 10**300 - 1
    memory.set("n", most)
    assert trouble(memory, "increment", {"key": "n", "by": 2**53}) is None
    assert trouble(memory, "increment", {"key": "n", "by": 0.5}) is None
    assert memory.get("n") in (most, most + 2**53, float(most))
    memory.delete("n")
