"""The verbs of learning on the command line."""

import json
from pathlib import Path

import pytest

from tests.scripted import models, said
from tests.test_cli import call, data, fails, ok

CHAT = "Ann: I live in Berlin.\nBob: We tried Redis pub/sub, it lost messages.\n"


@pytest.fixture(autouse=True)
def _store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_URL", url)


def test_a_conversation_is_learned_from_once(tmp_path: Path) -> None:
    file = tmp_path / "chat.txt"
    file.write_text(CHAT)
    assert ok("extract", str(file), "--session", "a").count("learned") == 2
    assert data("extract", str(file), "--session", "a")["turns"] == 0
    assert "avoid" in ok("recall", "use Redis pub/sub for events?")


def test_messages_come_as_json_too() -> None:
    said = [{"role": "user", "name": "Ann", "content": "I speak Thai."}]
    for body in (said, {"messages": said}, said[0]):
        found = data("extract", "-", "--keep", "both", input=json.dumps(body))
        assert found["turns"] in (0, 1)
    assert {one["content"] for one in data("list")["memories"]} == {
        "Ann speaks Thai.",
        "I speak Thai.",
    }


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert "cannot be read" in fails(2, "extract", str(tmp_path / "none"))
    (tmp_path / "bad").write_bytes(b"\xff\xfe")
    assert "UTF-8" in fails(2, "extract", str(tmp_path / "bad"))
    assert "keep" in fails(2, "extract", "-", "--keep", "all", input="Ann: hi")
    assert "extractor" in fails(2, "extract", "-", "--extractor", "oracle", input="Ann: hi")


def test_conflicts_are_listed_and_resolved() -> None:
    ok("extract", "-", "--session", "1", input="Ann: I live in Berlin.")
    assert "in conflict with" in ok(
        "extract", "-", "--session", "2", input="Bob: Ann lives in Rome."
    )
    (one,) = data("conflicts")
    assert "Rome" in ok("conflicts")
    assert "1 other past" in ok("resolve", one["id"])
    assert data("conflicts") == []
    fails(4, "resolve", one["id"])


def test_quarantine_is_reviewed() -> None:
    assert data("policy", "--role", "document=quarantine")["roles"] == {"document": "quarantine"}
    assert "quarantine" in ok("policy")
    fails(2, "policy", "--role", "document")
    ids = [
        data("remember", f"claim {n}", "--source", "web", "--role", "document")["id"] for n in "ab"
    ]
    assert "written by a document" in ok("review")
    assert "approved" in ok("approve", ids[0])
    ok("reject", ids[1])
    assert call("reject", ids[1]).exit_code == 1
    assert data("review") == []
    assert data("rollback", "web")["removed"] == 1
    assert "Removed 0" in ok("rollback", "web", "--since", "2026-01-01")


def test_jobs_are_listed_run_and_replayed() -> None:
    job = data("extract", "-", "--later", input="Ann: I live in Berlin.")["job"]
    ok("jobs", "run")
    assert data("jobs", "list") == []
    assert call("jobs", "replay", job).exit_code == 1
    assert "Accepted as job" in ok("extract", "-", "--later", input="Ann: I like tea.")


def test_conflicts_can_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    fails(2, "extract", "-", "--judge", "oracle", input="Ann: I live in Berlin.")
    fails(2, "jobs", "run", "--judge", "oracle")
    with models() as start:
        # It is shown the two twice, in either order.
        url, model = start(said('{"verdict": "second"}'), said('{"verdict": "first"}'))
        monkeypatch.setenv("HOLDFAST_LLM_URL", url)
        monkeypatch.setenv("HOLDFAST_LLM_MODEL", "small")
        ok("extract", "-", "--session", "1", input="Ann: I live in Berlin.")
        told = ("extract", "-", "--session", "2", "--judge", "llm")
        ok(*told, input="Bob: Ann lives in Porto.")
        while data("jobs", "list"):
            ok("jobs", "run", "--judge", "llm")
    assert len(model.asked) == 2
    assert [one["content"] for one in data("list")["memories"]] == ["Ann lives in Berlin."]


def test_long_sessions_are_summed_up_and_back() -> None:
    chat = "\n".join(f"Ann: I planted {n} trees." for n in range(20))
    ok("extract", "-", "--session", "s", "--keep", "turns", input=chat)
    (summary,) = data("consolidate")["summaries"]
    assert "20 memories current again" in ok("dissolve", summary)
    assert summary in ok("consolidate", "--session", "s") or data("list")["memories"]


def test_what_says_the_same_is_summed_up() -> None:
    for words in ("Ann lives in Lisbon", "Ann is living in Lisbon"):
        ok("remember", words)
    assert "2 memories summed up" in call("consolidate").output
    assert len(data("list")["memories"]) == 1
    assert "No" not in ok("dissolve", data("list")["memories"][0]["id"])
    assert len(data("list")["memories"]) == 2


def test_remember_can_supersede_and_warn() -> None:
    old = data("remember", "The port is 8080")["id"]
    new = data("remember", "The port is 9090", "--reconcile", "--avoid")
    assert new["superseded"] == [old]
    assert data("show", new["id"])["avoid"] is True
