"""A scope so large that it is searched in the database: the bound is lowered for it."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import numpy as np
import psycopg
import pytest

from holdfast import Memory
from holdfast.backend import Here
from holdfast.embed.hashing import Hashing
from holdfast.engine import Place, open_engine
from holdfast.engine.cache import index
from holdfast.engine.postgres import Postgres, builder, large, near
from holdfast.engine.postgres.rows import Rows
from holdfast.service import Service
from holdfast.testing import MoodyEmbedder
from holdfast.text import passages
from tests.waiting import until

NUMBERS = range(600)
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
HERE = Place("local", "s")


@pytest.fixture(autouse=True)
def _low_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE", 400)
    monkeypatch.setattr(large, "FEW", 40)
    monkeypatch.setattr(large, "SMALL", 10)


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Postgres]:
    store = open_engine(postgres_url)
    assert isinstance(store, Postgres)
    yield store
    store.close()


@pytest.fixture
def memory(engine: Postgres) -> Memory:
    memory = Memory("s", backend=Here(Service(engine, Hashing()), lambda: None))
    memory.remember_many(
        [
            {
                "content": f"the tea{n} of shop{n % 7} costs coins{n % 11}",
                "id": f"id{n}",
                "tags": [f"tag{n % 50}"],
                "meta": {"n": n % 60},
                "session": f"session{n % 30}",
                "happened_at": START + timedelta(hours=n),
            }
            for n in NUMBERS
        ]
    )
    assert engine.index_large(HERE)
    return memory


def test_nothing_of_it_is_taken_into_memory(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(self: index.Index, source: object) -> None:
        raise AssertionError("a large scope was taken into memory")

    monkeypatch.setattr(index.Index, "follow", taken)
    assert memory.recall("tea5", 1)[0].id == "id5"


def test_each_is_found_by_its_own_word(memory: Memory) -> None:
    found = [memory.recall(f"tea{n}", 1) for n in NUMBERS[::7]]
    assert [hits[0].id if hits else None for hits in found] == [f"id{n}" for n in NUMBERS[::7]]


def test_each_is_found_by_all_its_words(memory: Memory) -> None:
    for n in range(0, 600, 29):
        query = f"the tea{n} of shop{n % 7} costs coins{n % 11}"
        assert memory.recall(query, 1)[0].id == f"id{n}"


@pytest.mark.parametrize("few", [1, 40, 10_000])
def test_filters_leave_in_all_that_match(
    memory: Memory, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "FEW", few)  # by the graph, and by comparing each
    half, hours = START + timedelta(hours=300), timedelta(hours=1)
    for where, expected in (
        ({"tags": ["tag7"]}, [n for n in NUMBERS if n % 50 == 7]),
        ({"session": "session3"}, [n for n in NUMBERS if n % 30 == 3]),
        ({"tags": ["tag7"], "session": "session7"}, [7, 157, 307, 457]),
        ({"meta": {"n": 5}}, [n for n in NUMBERS if n % 60 == 5]),
        ({"since": half, "until": half + 3 * hours}, [300, 301, 302]),
        ({"kinds": ["decision"]}, []),
        ({"tags": ["nobody has it"]}, []),
    ):
        found = memory.recall("zebra", 1000, min_score=0, **where)
        assert {hit.id for hit in found} == {f"id{n}" for n in expected}, where


def test_a_wide_filter_is_as_exact(memory: Memory) -> None:
    memory.remember_many([{"content": f"gold{n} is dear", "kind": "decision"} for n in range(60)])
    found = memory.recall("gold7", 1000, min_score=0, kinds=["fact"])
    assert len(found) >= large.NEAREST
    assert {hit.memory.kind for hit in found} == {"fact"}
    assert "gold7 is dear" in [hit.content for hit in memory.recall("gold7", 3, kinds=["decision"])]


def test_what_is_written_is_found_at_once_through_any_door(
    memory: Memory, postgres_url: str
) -> None:
    with Memory("s", postgres_url, embedder=Hashing()) as other:
        assert other.recall("tea5", 1)[0].id == "id5"
        for n in range(0, 100, 4):
            memory.revise(f"id{n}", f"the coffee{n} of shop{n % 7}")
        for n in range(1, 100, 4):
            memory.forget(f"id{n}")
        memory.remember("a zebra in the kitchen", id="zebra")
        for door in (memory, other):
            assert door.recall("zebra", 1)[0].id == "zebra"
            for n in range(0, 100, 20):
                assert f"id{n}" in {hit.id for hit in door.recall(f"coffee{n}", 5)}
                assert all(hit.id != f"id{n + 1}" for hit in door.recall(f"tea{n + 1}", 1000))
                assert f"id{n + 2}" in {hit.id for hit in door.recall(f"tea{n + 2}", 5)}
    assert memory.doctor().findings == ()


def test_it_holds_what_the_rows_hold(memory: Memory, engine: Postgres, postgres_url: str) -> None:
    memory.revise("id1", "nothing of the kind")
    memory.forget("id2")
    memory.remember("likes tea", id="more", tags=["new"])
    memory.forget(session="session4")
    with psycopg.connect(postgres_url) as db:
        db.execute("SELECT set_config('holdfast.tenant', 'local', false)")
        counted = db.execute("SELECT count(*), sum(length) FROM holdfast.memories").fetchone()
        assert db.execute("SELECT held, terms FROM holdfast.scopes").fetchone() == counted
        scope = engine._view(lambda seen: seen.scope(HERE)).number
        rows = db.execute("SELECT row, vectors FROM holdfast.memories ORDER BY row").fetchall()
        near = db.execute(
            f"SELECT row, vector::text FROM holdfast.near_{scope} ORDER BY row".encode()
        ).fetchall()
    assert [row for row, _ in near] == [row for row, _ in rows]
    for (_, raw), (_, text) in zip(rows, near, strict=True):
        assert np.array_equal(np.frombuffer(raw, "<f2"), np.array(json.loads(text), np.float16))


def test_a_memory_that_waits_for_its_vector_is_found_by_words_then_by_meaning(
    memory: Memory, engine: Postgres
) -> None:
    class Away(Hashing):
        def embed(self, texts: object) -> np.ndarray:
            raise OSError("away")

    waiting = Memory("s", backend=Here(Service(engine, Away()), lambda: None))
    waiting.remember("a platypus swims", id="p")
    found = waiting.recall("platypus", 3, tags=[])
    assert found.degraded is not None
    assert found[0].id == "p"
    assert memory.recall("platypus", 1)[0].why.meaning is not None
    assert memory.stats().waiting == 0


def test_long_contents_have_all_their_passages_compared(memory: Memory) -> None:
    filling = "and so the river went on past the old bridge " * 30
    for n in range(5):
        memory.remember(f"{filling} dragon{n} dragon{n} dragon{n} {filling}", id=f"d{n}")
    for n in range(5):
        asked, *parts = Hashing().embed([f"dragon{n}", *passages(memory.read(f"d{n}").content)])
        meant = memory.explain(f"d{n}", f"dragon{n}").why
        assert meant is not None
        assert meant.meaning == pytest.approx(max(float(p @ asked) for p in parts), abs=0.001)
    memory.forget("d0")
    assert all(hit.id != "d0" for hit in memory.recall("dragon0", 1000, min_score=0))


def test_as_of_sees_what_was_true_then(memory: Memory) -> None:
    before = memory.read("id8").created_at
    memory.revise("id8", "nothing of the kind")
    assert memory.recall("tea8", 1, as_of=before)[0].content.startswith("the tea8 ")
    assert all("tea8 " not in hit.content for hit in memory.recall("tea8", 1000, min_score=0))


def test_what_has_expired_is_out_of_sight(memory: Memory) -> None:
    memory.remember_many([{"content": f"tea1 fleeting{n}", "ttl": 0.001} for n in range(150)])
    found = memory.recall("tea1", 1000, min_score=0)
    assert len(found) >= large.NEAREST
    assert not any("fleeting" in hit.content for hit in found)


def test_explain_tells_of_any_memory(memory: Memory) -> None:
    told = memory.explain("id77", "zebras and their stripes")
    assert told.verdict in ("below threshold", "out-ranked")
    assert told.why is not None
    assert memory.explain("id77", "tea77").verdict == "returned"


def test_small_scopes_are_searched_beside_it(memory: Memory, engine: Postgres) -> None:
    other = Memory("t", backend=Here(Service(engine, Hashing()), lambda: None))
    other.remember_many([f"the tea{n} of another shop" for n in range(30)])
    both = memory.recall("tea7", 10, scopes=["s", "t"])
    assert {hit.memory.scope for hit in both[:2]} == {"s", "t"}


def test_neighbours_in_a_session_are_candidates(memory: Memory) -> None:
    """An answer without a word of the question is found beside the question."""
    talk = [
        *("Ann: hello", "Bob: where did you put the marmalade?", "Ann: behind the flour, as ever"),
        *("Bob: thanks", "Ann: you are welcome"),
    ]
    for turn in talk:
        memory.remember(turn, session="kitchen", happened_at=START)
    found = memory.recall("where is the marmalade", 1000, min_score=0)
    assert set(talk[:4]) <= {hit.content for hit in found}


def test_a_scope_that_grows_large_gets_its_table_by_itself(
    engine: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory("s", backend=Here(Service(engine, Hashing()), lambda: None))
    memory.remember_many([f"the tea{n} of a shop" for n in range(450)])
    assert memory.recall("tea7", 1)[0].content == "the tea7 of a shop"
    until(lambda: near_state(engine) == near.READY)
    assert memory.recall("tea7", 1)[0].content == "the tea7 of a shop"


def test_a_scope_that_is_forgotten_takes_its_table_along(memory: Memory, postgres_url: str) -> None:
    assert tables(postgres_url) == 1
    memory.forget(everything=True)
    assert tables(postgres_url) == 0
    memory.remember("anew")
    assert memory.recall("anew")[0].content == "anew"


def test_another_embedder_makes_it_anew(memory: Memory, engine: Postgres) -> None:
    memory.reembed(MoodyEmbedder(dimension=65))
    assert near_state(engine) == near.NONE
    assert memory.recall("tea7", 1)[0].id == "id7"
    until(lambda: near_state(engine) == near.READY)
    assert memory.recall("tea7", 1)[0].id == "id7"


def test_a_table_that_was_broken_off_is_finished_by_the_next(
    memory: Memory, engine: Postgres, postgres_url: str
) -> None:
    """As if the process had died when the graph was half made."""
    number = engine._view(lambda seen: seen.scope(HERE)).number
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("SELECT set_config('holdfast.tenant', 'local', false)")
        db.execute("UPDATE holdfast.scopes SET near = 1")
        db.execute(f"DELETE FROM holdfast.near_{number} WHERE row > 100".encode())
        db.execute(f"DROP INDEX holdfast.near_{number}_vector".encode())
    memory.remember("written meanwhile")
    assert engine.index_large(HERE)
    assert memory.recall("tea555", 1)[0].id == "id555"
    assert engine.check(repair=False) == []


@pytest.mark.parametrize("each", [2 * 256 + builder.LINKS_BYTES, 2 * 256])
def test_a_graph_has_the_memory_it_needs_to_be_made(
    memory: Memory, engine: Postgres, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what its vectors take alone it does not fit, and the server says so."""
    assert Hashing().dimension == 256
    memory.remember_many([f"the coffee{n} of a shop" for n in range(1500)])
    monkeypatch.setattr(builder, "LEAST_MEMORY", 1 << 20)  # pgvector takes so much at a time
    at, said = engine._view(lambda seen: seen.scope(HERE)), list[str]()
    with engine._connections.alone() as db:
        db.add_notice_handler(lambda told: said.append(told.message_primary or ""))
        db.execute(near.text("drop_graph", at).encode())
        assert builder._graph(db, at, each)
    fits = each > 2 * 256
    assert any("no longer fits" in told for told in said) is not fits


def test_the_doctor_finds_and_mends_what_is_wrong_with_it(
    memory: Memory, engine: Postgres, postgres_url: str
) -> None:
    number = engine._view(lambda seen: seen.scope(HERE)).number
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("SELECT set_config('holdfast.tenant', 'local', false)")
        db.execute(f"DELETE FROM holdfast.near_{number} WHERE row = 7".encode())
        db.execute(f"UPDATE holdfast.near_{number} SET vector = NULL WHERE row = 9".encode())
        db.execute("UPDATE holdfast.scopes SET held = held + 5, terms = 0")
    wrong = {
        "memories not in the index of their large scope": 2,
        "scopes that are counted wrong": 1,
    }
    assert {finding.what: finding.count for finding in memory.doctor().findings} == wrong
    assert {finding.what for finding in memory.doctor(repair=True).findings} == wrong.keys()
    assert memory.doctor().findings == ()
    assert memory.recall("tea6", 1)[0].id == "id6"


def test_without_pgvector_it_is_searched_in_memory(
    bare_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = open_engine(bare_url)
    assert isinstance(engine, Postgres)
    memory = Memory("s", backend=Here(Service(engine, Hashing()), lambda: None))
    memory.remember_many([f"the tea{n} of a shop" for n in range(450)])
    assert not engine.index_large(HERE)
    assert "pgvector is missing" in caplog.text
    assert memory.recall("tea7", 1)[0].content == "the tea7 of a shop"
    assert tables(bare_url) == 0
    engine.close()


def test_its_table_is_walled_off_too(memory: Memory, postgres_url: str, engine: Postgres) -> None:
    number = engine._view(lambda seen: seen.scope(HERE)).number
    with psycopg.connect(postgres_url) as db:
        for tenant, seen in (("local", 600), ("acme", 0), ("", 0), (" *", 600)):
            db.execute("SELECT set_config('holdfast.tenant', %s, false)", (tenant,))
            asked = f"SELECT count(*) FROM holdfast.near_{number}".encode()
            assert db.execute(asked).fetchone() == (seen,)


def near_state(engine: Postgres) -> int:
    def work(seen: Rows) -> int:
        seen.scope(HERE)  # so that its rows are seen
        row = seen.db.one("see_scope", *HERE)
        return int(row["near"]) if row else -1

    return engine._view(work)


def tables(url: str) -> int:
    with psycopg.connect(url) as db:
        found = db.execute("SELECT count(*) FROM pg_tables WHERE tablename ~ '^near_'").fetchone()
    assert found is not None
    return int(found[0])
