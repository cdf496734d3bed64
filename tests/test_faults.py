"""The fault test, shortly: kills lose nothing, planted bugs are found, erased is erased."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import plants, raw, report, run
from benchmarks.faults.check import KINDS
from benchmarks.faults.marks import TEXT, mark
from benchmarks.faults.rounds import FAULTS
from benchmarks.faults.store import Open
from holdfast import Memory, NotFound, Source
from holdfast.engine.sqlite.rows import Rows
from tests.markdown import ROOT

KILLS = 4 * len(FAULTS)  # one round of each
QUICK = ("--kills", "60", "--seconds", "100", "--faults", "kill at any moment")


def faults(tmp_path: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    """Runs the fault test as `make faults` does; gives its exit code, results and output."""
    results = tmp_path / "results.json"
    done = subprocess.run(
        [sys.executable, "benchmarks/faults.py", "--json", results, "--folder", tmp_path, *words],
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert results.exists(), done.stdout
    return done.returncode, json.loads(results.read_text()), done.stdout


@pytest.mark.slow
def test_nothing_is_lost_when_writers_are_killed_in_every_way(tmp_path: Path) -> None:
    code, found, told = faults(tmp_path, "--kills", str(KILLS))
    assert {kind: found["total"][kind] for kind in KINDS} == dict.fromkeys(KINDS, 0), told
    assert code == 0, told
    assert found["total"]["kills"] >= max(50, KILLS)
    assert found["total"]["in flight"] >= 25, "kills must fall into operations"
    assert all(row["runs"] for row in found["faults"].values()), told


@pytest.mark.slow
@pytest.mark.parametrize("plant", plants.PLANTS)
def test_a_planted_bug_is_found(plant: str, tmp_path: Path) -> None:
    code, found, told = faults(tmp_path, *QUICK, "--plant", plant)
    assert found["total"][plants.PLANTS[plant][1]] > 0, told
    assert code == 1


def test_a_plant_without_ground_fails_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Rows, "answer")
    with pytest.raises(plants.PlantFailed, match=r"Rows\.answer is gone"):
        plants.plant("double-apply")


# --- erased is erased ---

OURS, THEIRS = "agent-b", "agent-c"
PLACES = "content tag meta key session source message revised value item expired".split()


def words_for(scope: str, *places: str) -> dict[str, str]:
    """A word of its own for each place a caller's words can go."""
    return {place: mark(scope, TEXT, "erasure", place) for place in (*PLACES, *places)}


def remembered(memory: Memory, words: dict[str, str], id: str | None = None) -> str:
    """Puts every word where it belongs; gives the id of the memory."""
    made = memory.remember(
        f"{words['content']} is here to be forgotten",
        tags=[words["tag"]],
        meta={words["key"]: {"deep": [words["meta"]]}},
        session=words["session"],
        source=Source(words["source"], message=words["message"]),
        idempotency_key=f"remember {words.get('once', '')}".strip(),
        id=id,
    )
    memory.revise(made.id, f"{words['revised']} replaced it", idempotency_key="revise")
    memory.remember(f"{words['expired']} lives shortly", ttl=0.001)
    memory.set(words.get("name", "state"), {"value": words["value"]}, idempotency_key="set")
    memory.append("list", words["item"], idempotency_key="append")
    memory.recall(f"{words['content']} forgotten")
    return made.id


def files(store: Open) -> raw.Raw:
    return raw.Raw(raw.files_of(Path(store.url.removeprefix("sqlite:///"))))


@pytest.fixture
def store(url: str) -> Iterator[Open]:
    opened = Open(url)
    opened.memory(THEIRS).remember(f"{mark(THEIRS, TEXT, 'kept')} stays where it is")
    yield opened
    opened.close()


def remains(store: Open, words: dict[str, str]) -> list[str]:
    """What is left in the bytes of the words and of the two texts; proves that it can see."""
    texts = [f"{words['content']} is here to be forgotten", f"{words['revised']} replaced it"]
    kept = [f"{mark(THEIRS, TEXT, 'kept')} stays where it is"]
    forms = [
        f"{word} as {form}"
        for word in words.values()
        for form, needle in raw.encoded(word)
        if needle in files(store)
    ]
    return forms + raw.remains(files(store), list(words.values()), texts, kept)


def test_what_was_forgotten_and_purged_is_in_no_byte_of_the_files(store: Open) -> None:
    memory, words = store.memory(OURS), words_for(OURS)
    made = remembered(memory, words)
    assert set(files(store).marks(words.values())) == set(words.values())  # the search sees them
    memory.forget(made)
    assert memory.delete("state")
    assert memory.delete("list")
    memory.purge()
    assert remains(store, words) == []
    with pytest.raises(NotFound):  # a retry must not tell what was forgotten
        memory.revise(made, f"{words['revised']} replaced it", idempotency_key="revise")


def test_what_was_forgotten_by_a_filter_is_gone_as_well(store: Open) -> None:
    memory, words = store.memory(OURS), words_for(OURS)
    remembered(memory, words)
    assert memory.forget(session=words["session"]).memories == 1
    memory.delete("state")
    memory.delete("list")
    memory.purge()
    assert remains(store, words) == []


def test_a_scope_forgotten_whole_leaves_no_trace_not_even_of_its_names(store: Open) -> None:
    words = words_for(OURS, "name", "once", "id", "scope")
    memory = store.memory(words["scope"])
    remembered(memory, words, id=words["id"])
    memory.forget(everything=True, idempotency_key=f"forget {words['once']}")
    memory.purge()
    assert remains(store, words) == []
    assert len(store.memory(THEIRS).list()) == 1


def test_the_bytes_of_a_deleted_key_go_even_from_earlier_answers(store: Open) -> None:
    memory = store.memory(OURS)
    words = [mark(OURS, TEXT, "version", number) for number in range(5)]
    for number, word in enumerate(words):
        memory.set("cursor", word, idempotency_key=f"set {number}")
    memory.delete("cursor")
    memory.purge()
    assert files(store).marks(words) == []


def test_the_search_of_the_bytes_knows_when_it_is_blind(tmp_path: Path) -> None:
    empty = tmp_path / "memory.db"
    empty.write_bytes(b"nothing to see")
    with pytest.raises(raw.Blind):
        raw.remains(raw.Raw([empty]), [], [], ["bmbmbmbmbmbmbmbm was never here"])


FORMS = [form for form, _ in raw.encoded(mark(OURS, TEXT, "form"))]


@pytest.mark.parametrize("form", FORMS)
def test_the_search_of_the_bytes_finds_other_forms_of_a_word(form: str, tmp_path: Path) -> None:
    word = mark(OURS, TEXT, "form")
    held = tmp_path / "memory.db"
    held.write_bytes(b"\1\2" + dict(raw.encoded(word))[form] + b"\3\4")
    assert f"{word} as {form}" in raw.remains(raw.Raw([held]), [], [word], [])


# --- many processes ---

WRITER = """
import sys
from holdfast import Memory
name, count, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
memory = Memory("shared", url, embedder="hashing")
for number in range(count):
    memory.remember(f"item{name}x{number} was told by writer {name}")
"""
ECHO = """
import sys
from holdfast import Memory
memory = Memory("shared", sys.argv[1], embedder="hashing")
for line in sys.stdin:
    hits = memory.recall(line.strip())
    print(hits[0].content if hits else "nothing", flush=True)
    memory.remember(f"answer to {line.strip()}")
"""


@pytest.mark.slow
def test_four_processes_and_two_thousand_writes_lose_none(url: str) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(name), "500", url]) for name in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    with Memory("shared", url, embedder="hashing") as memory:
        assert memory.stats().memories == 2000
        assert memory.doctor().healthy
        words = [f"item{name}x{number}" for name in range(4) for number in range(500)]
        lost = [word for word in words if word not in _first(memory, word)]
        assert lost == []


def _first(memory: Memory, word: str) -> str:
    hits = memory.recall(word, limit=1)
    return hits[0].content if hits else ""


def test_what_one_process_remembers_another_recalls_at_once(url: str) -> None:
    with Memory("shared", url, embedder="hashing") as memory:
        echo = subprocess.Popen(
            [sys.executable, "-c", ECHO, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert echo.stdin is not None
        assert echo.stdout is not None
        for number in range(20):
            memory.remember(f"question{number} is asked")
            echo.stdin.write(f"question{number}\n")
            echo.stdin.flush()
            assert echo.stdout.readline() == f"question{number} is asked\n"
        echo.stdin.close()
        assert echo.wait() == 0
        echo.stdout.close()
        assert memory.stats().memories == 40


# --- the record ---


def test_the_page_quotes_the_committed_results() -> None:
    found = json.loads(run.RESULTS.read_text())
    page = (ROOT / "docs" / "faults.md").read_text()
    assert report.table(found) in page
    assert report.heading(found) in page
    assert found["total"]["kills"] >= run.KILLS
    assert not any(found["total"][kind] for kind in KINDS)
    assert re.fullmatch(r"[0-9a-f]{40}( and changes)?", found["commit"])


@pytest.mark.slow
@pytest.mark.xdist_group("outages")
def test_a_short_run_over_http_finds_nothing() -> None:
    from benchmarks import outages

    assert outages.main(["--kills", "6", "--pause", "0.8"]) == 0
