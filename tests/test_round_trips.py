"""What goes out comes back equal, and what is pure agrees with what is stored."""

import base64
import json
import string
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from holdfast import Invalid, Memory, context, model, ops, text, wire
from holdfast.explain import matches
from holdfast.service import VERBS

UTC = timezone.utc
MICROSECOND = timedelta(microseconds=1)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
HOSTILE = st.text(
    st.sampled_from("<>&/#-[]\n\r\t\x0b\x1c\x85\u2028\u2029\u202e\u200b\ue000茶́aZ0 ")
    | st.characters()
)
NAMES = st.text(string.ascii_letters + "éж茶_-/.", min_size=1, max_size=8)
TIMES = st.datetimes(datetime(2, 1, 2), datetime(9998, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001
NUMBERS = st.floats(0, 1)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
) | TEXT
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=6
)


def comparable(value: Any) -> bool:
    """False for whole numbers of more than 64 bits, by which nothing is filtered."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63


CONTENT = TEXT.filter(lambda said: said.strip() != "")


# --- text ---


@given(TEXT)
@example("e\u0301cole ﬁancée Straße ΐ İ ſ K")
@example("１２３ ㍿ x² ½ ﷺ")
def test_terms_are_the_same_for_the_same_words_and_survive_their_stored_form(said: str) -> None:
    found = text.terms(said)
    assert found == text.terms(said) == text.terms(text.normalise(said))
    assert tuple(" ".join(found).split(" ") if found else ()) == found
    assert all(term == term.casefold() and not any(map(str.isspace, term)) for term in found)


@given(TEXT)
def test_a_fingerprint_knows_only_what_normalising_leaves(said: str) -> None:
    mark = text.fingerprint(said)
    assert mark == text.fingerprint(f"\n {text.normalise(said)}  ")
    assert len(mark) == 16
    assert mark != text.fingerprint(said + "x")


@given(TEXT)
def test_normalising_twice_is_normalising_once(said: str) -> None:
    assert text.normalise(text.normalise(said)) == text.normalise(said)


@given(TEXT, TEXT)
def test_tokens_of_two_texts_add_up(one: str, other: str) -> None:
    assert text.tokens(f"{one} {other}") == text.tokens(one) + text.tokens(other)


@given(st.lists(st.text("ab茶", min_size=1, max_size=1500), max_size=40).map(" ".join))
def test_passages_cover_a_text_and_overlap(said: str) -> None:
    parts, end = text.passages(said), 0
    for part in parts:
        start = said.find(part, max(0, end - text.PASSAGE_OVERLAP))
        assert 0 <= start <= end
        assert len(part) <= text.PASSAGE_LETTERS
        end = start + len(part)
    assert end == len(said)
    assert all(
        one[-text.PASSAGE_OVERLAP :] == two[: text.PASSAGE_OVERLAP] for one, two in pairwise(parts)
    )


# --- the wire ---

FILTERS = st.builds(
    ops.where,
    kinds=st.lists(NAMES, max_size=2),
    tags=st.lists(NAMES, max_size=2),
    session=st.none() | NAMES,
    source=st.none() | NAMES,
    since=st.none() | TIMES,
    meta=st.dictionaries(TEXT, SCALARS.filter(comparable), max_size=2),
)
SOURCES = st.builds(model.Source, NAMES, st.sampled_from(model.ROLES), st.none() | NAMES)
VOICES = st.builds(model.Voice, NAMES, NAMES, st.sampled_from(model.ROLES))
LIVES = st.timedeltas(timedelta(microseconds=1), timedelta(days=365_000))
DRAFTS = st.builds(
    ops.Draft,
    content=CONTENT,
    kind=NAMES,
    tags=st.lists(NAMES, max_size=2),
    meta=st.dictionaries(TEXT, JSON, max_size=2),
    session=st.none() | NAMES,
    source=st.none() | SOURCES,
    ttl=st.none() | LIVES,
    happened_at=st.none() | TIMES,
    id=st.none() | NAMES,
    avoid=st.booleans(),
    supersedes=st.lists(NAMES, max_size=2),
    reconcile=st.none() | st.booleans(),
)
RECORDS = st.builds(
    model.Record,
    id=NAMES,
    scope=NAMES,
    content=CONTENT,
    kind=NAMES,
    tags=st.lists(NAMES, max_size=2).map(tuple),
    meta=st.dictionaries(TEXT, JSON, max_size=2),
    session=st.none() | NAMES,
    source=st.none() | SOURCES,
    pinned=st.booleans(),
    created_at=TIMES,
    happened_at=TIMES,
    expires_at=st.none() | TIMES,
    version=st.integers(1, 9),
    until=st.none() | TIMES,
    superseded_by=st.none() | NAMES,
    uses=st.integers(0, 9),
    last_used_at=st.none() | TIMES,
)
WHYS = st.builds(
    model.Why,
    similarity=NUMBERS,
    recency=NUMBERS,
    frequency=NUMBERS,
    words=NUMBERS,
    meaning=st.none() | NUMBERS,
    matched=st.lists(NAMES, max_size=2).map(tuple),
)
HITS = st.builds(model.Hit, RECORDS, NUMBERS, WHYS)
WEIGHTS = st.sampled_from([model.Weights(), model.Weights(1, 0, 0), model.Weights(0.5, 0.25, 0.25)])
VERSIONS = st.none() | st.integers(0, 2**62)
WORDS = st.sampled_from(model.ACTIONS)
ACTIONS = st.none() | WORDS
TURNS = st.builds(
    model.Turn,
    text=CONTENT,
    speaker=st.none() | NAMES,
    role=st.sampled_from((*model.ROLES, "system")),
    at=st.none() | TIMES,
    id=st.none() | NAMES,
)
GIVEN: dict[str, Any] = {  # what each field of an op may be
    **{"scope": NAMES, "id": NAMES, "key": NAMES, "idempotency_key": st.none() | NAMES},
    **{"content": CONTENT, "query": CONTENT, "value": JSON, "item": JSON, "path": NAMES},
    **{"draft": DRAFTS, "drafts": st.lists(DRAFTS, min_size=1, max_size=3).map(tuple)},
    **{"where": FILTERS, "as_of": st.none() | TIMES, "now": st.none() | TIMES},
    **{"scopes": st.lists(NAMES, max_size=2).map(tuple), "min_score": st.none() | NUMBERS},
    **{"weights": WEIGHTS, "limit": st.integers(1, 1000), "budget": st.integers(1, 10**6)},
    **{"cursor": st.none() | NAMES, "ttl": st.none() | LIVES, "if_version": VERSIONS},
    **{"by": st.integers(-9, 9) | st.floats(-9, 9), "prefix": TEXT, "after": TEXT},
    **{"turns": st.lists(TURNS, max_size=3).map(tuple), "session": st.none() | NAMES},
    **{"keep": st.sampled_from(model.KEEPS), "wait": st.booleans(), "both": st.booleans()},
    **{"over": st.lists(NAMES, max_size=2).map(tuple), "source": NAMES, "since": st.none() | TIMES},
    **{"suspicious": ACTIONS, "secrets": st.none() | st.sampled_from(model.SECRETS)},
    **{"roles": st.none() | st.dictionaries(st.sampled_from(model.ROLES), WORDS, max_size=2)},
    **{"reconcile": st.none() | st.booleans(), "voice": st.none() | VOICES},
    **{"lines": st.lists(TEXT).map(tuple), "repair": st.booleans(), "everything": st.just(False)},
}
OPS = [op for op in VERBS if op is not ops.Reembed]  # its embedder stays where it is


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_every_op_goes_over_the_wire(op: type[ops.Op[Any]], data: st.DataObject) -> None:
    made = {name: data.draw(GIVEN[name]) for name in (each.name for each in fields(op))}
    if op is ops.Forget:
        made["where"] = model.Filter()
    sent = op(**made)
    assert wire.loads(op, wire.dumps(sent)) == sent


ENTRIES = st.builds(
    model.Entry,
    key=NAMES,
    value=JSON,
    version=st.integers(1, 9),
    updated_at=TIMES,
    expires_at=st.none() | TIMES,
)
COUNTS = st.integers(0, 9)
ANSWERS: list[tuple[Any, Any]] = [
    (model.Record, RECORDS),
    (model.Hit, HITS),
    (model.Recalled, st.builds(model.Recalled, hits=st.lists(HITS, max_size=2).map(tuple))),
    (model.Remembered, st.builds(model.Remembered, NAMES, st.booleans())),
    (
        model.Page,
        st.builds(model.Page, st.lists(RECORDS, max_size=2).map(tuple), st.none() | NAMES),
    ),
    (
        model.Receipt,
        st.builds(model.Receipt, memories=COUNTS, states=COUNTS, at=TIMES, digest=NAMES),
    ),
    (
        model.Explanation,
        st.builds(
            model.Explanation,
            id=NAMES,
            verdict=NAMES,
            detail=TEXT,
            rank=st.none() | COUNTS,
            score=st.none() | NUMBERS,
            why=st.none() | WHYS,
        ),
    ),
    (model.Entry, ENTRIES),
    (
        model.Stats,
        st.builds(
            model.Stats,
            kinds=st.dictionaries(NAMES, COUNTS),
            **{"scope": NAMES, "embedder": NAMES, "memories": COUNTS, "versions": COUNTS},
            **{"sessions": COUNTS, "states": COUNTS, "waiting": COUNTS, "file_bytes": COUNTS},
        ),
    ),
    (model.Exported, st.builds(model.Exported, st.lists(TEXT).map(tuple), st.none() | NAMES)),
    (model.Imported, st.builds(model.Imported, added=COUNTS, known=COUNTS, states=COUNTS)),
    (
        model.Diagnosis,
        st.builds(
            model.Diagnosis,
            st.lists(st.builds(model.Finding, TEXT, COUNTS, st.booleans())).map(tuple),
        ),
    ),
    (model.Purged, st.builds(model.Purged, memories=COUNTS, states=COUNTS, freed_bytes=COUNTS)),
    (model.Reembedded, st.builds(model.Reembedded, COUNTS, COUNTS)),
    (tuple[model.Remembered, ...], st.just((model.Remembered("a", created=True),))),
    (
        model.Extracted,
        st.builds(
            model.Extracted,
            learned=st.just((model.Remembered("a", True, ("b",), ("c",)),)),
            turns=COUNTS,
            dropped=st.dictionaries(NAMES, COUNTS),
            job=st.none() | NAMES,
        ),
    ),
    (
        model.Held,
        st.builds(
            model.Held,
            id=NAMES,
            content=TEXT,
            source=st.none() | SOURCES,
            why=st.lists(TEXT).map(tuple),
            at=TIMES,
        ),
    ),
    (
        model.Job,
        st.builds(
            model.Job,
            **{"id": NAMES, "state": NAMES, "attempts": COUNTS, "session": st.none() | NAMES},
            **{"at": TIMES, "due": TIMES, "trouble": st.none() | TEXT},
        ),
    ),
    (model.Policy, st.builds(model.Policy, roles=st.just({"tool": "reject"}))),
    (model.RolledBack, st.builds(model.RolledBack, removed=COUNTS, revived=COUNTS, kept=COUNTS)),
    (model.Consolidated, st.builds(model.Consolidated, sources=COUNTS)),
    (bool, st.booleans()),
    (str, TEXT),
]


@pytest.mark.parametrize(("kind", "values"), ANSWERS, ids=lambda it: getattr(it, "__name__", ""))
@settings(max_examples=25)
@given(data=st.data())
def test_every_answer_goes_over_the_wire(kind: Any, values: Any, data: st.DataObject) -> None:
    answer = data.draw(values)
    assert wire.loads(kind, wire.dumps(answer)) == answer


@given(kind=st.sampled_from([*OPS, *(kind for kind, _ in ANSWERS)]), data=JSON)
def test_nonsense_from_the_wire_is_invalid_or_fits(kind: Any, data: Any) -> None:
    with suppress(Invalid):
        wire.load(kind, data)


# --- filters ---

MOMENTS = st.integers(0, 2**37).map(lambda us: datetime(2026, 1, 1, tzinfo=UTC) + us * MICROSECOND)
VALUES = st.sampled_from([None, True, False, 0, 1, -0.0, 1.0, 0.1, 1e300, "", "1", "true", "é"])
MORE_VALUES = VALUES | st.integers(-(2**63), 2**63 - 1) | st.floats(-1e9, 1e9) | TEXT
META = st.dictionaries(
    st.sampled_from(["a", 'b"', "c\\n", "$.a", "é", ""]), MORE_VALUES, max_size=3
)
TOLD = st.fixed_dictionaries(
    {"kind": st.sampled_from(["fact", "lesson"]), "happened_at": MOMENTS, "meta": META},
    optional={
        "tags": st.lists(st.sampled_from(["x", "y", "z'"]), max_size=2),
        "session": st.sampled_from(["s", "t"]),
        "source": st.sampled_from(["ann", "bob"]),
    },
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'memory.db'}"
    with Memory("filters", url, embedder="hashing") as memory:
        yield memory


@given(told=st.lists(TOLD, min_size=1, max_size=5), data=st.data())
@settings(max_examples=120)
def test_the_stored_filter_is_the_pure_one(
    memory: Memory, told: list[dict[str, Any]], data: st.DataObject
) -> None:
    memory.forget(everything=True)
    memory.remember_many([{"content": f"tea {n}", **it} for n, it in enumerate(told)])
    some = data.draw(st.sampled_from(told))
    where: dict[str, Any] = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "kinds": st.just([some["kind"]]),
                "tags": st.just(some.get("tags", ["x"])),
                "session": st.just(some.get("session", "s")),
                "source": st.just(some.get("source", "ann")),
                "since": st.just(some["happened_at"]) | MOMENTS,
                "meta": st.just(some["meta"]) | META,
            },
        )
    )
    everything = memory.list()
    expected = {it.id for it in everything if matches(it, ops.where(**where))}
    assert {it.id for it in memory.list(**where)} == expected
    assert {hit.id for hit in memory.recall("tea", min_score=0, **where)} == expected


# --- context ---


@given(
    st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), max_size=8),
    st.integers(1, 400),
)
def test_no_text_breaks_out_of_a_block_or_its_budget(
    told: list[tuple[str, str, str]], budget: int
) -> None:
    at = datetime(2026, 5, 3, tzinfo=UTC)
    why = model.Why(similarity=1, recency=1, frequency=1, words=1, meaning=1)
    hits = [
        model.Hit(
            model.Record(
                id=str(n),
                scope="s",
                content=content,
                kind=kind,
                source=model.Source(writer),
                created_at=at,
                happened_at=at,
            ),
            1.0,
            why,
        )
        for n, (content, kind, writer) in enumerate(told)
    ]
    chosen = context.chosen(hits, budget)
    block = context.render(chosen)
    assert text.tokens(block) <= budget
    if not chosen:
        assert block == ""
        return
    first, *lines, last = block.split("\n")
    assert (first, last) == (context.OPEN, context.CLOSE)
    assert block.splitlines() == [first, *lines, last]
    said = [line for line in lines if line.startswith("- [2026-05-03")]
    headings = [line for line in lines if line.startswith("## ")]
    assert (len(said), len(said) + len(headings)) == (len(chosen), len(lines))
    assert not any(char in line for line in lines for char in "<>")


# --- cursors ---

ROWS = st.integers(-(2**80), 2**80)
PLACES = st.lists(ROWS | st.text(max_size=3) | st.booleans() | st.none(), max_size=3)


def marked(place: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


@given(cursor=TEXT | PLACES.map(marked) | st.text(string.ascii_letters + "=-_", max_size=12))
@example(marked([2**63]))
@example(marked([-1, "\ud800"]))
def test_a_forged_cursor_is_invalid_or_a_place(memory: Memory, cursor: str) -> None:
    with suppress(Invalid):
        memory.list(cursor=cursor)
    with suppress(Invalid):
        memory._backend.do(ops.Export(scope=memory.scope, cursor=cursor))
