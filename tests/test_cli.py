"""The command line, driven as a person or a script would: every command, every exit code."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from holdfast import Memory, __version__
from holdfast.cli import app
from holdfast.cli.serve import _without_password

HOLDFAST = [sys.executable, "-m", "holdfast"]
TELL = "Use PostgreSQL, not MongoDB, for the main store"
ASK = "PostgreSQL or MongoDB for the main store?"


@pytest.fixture(autouse=True)
def _store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_URL", url)


def call(*args: str, input: str | bytes | None = None) -> Result:
    """One command; a failure of ours is told in words, never as a traceback."""
    done = CliRunner().invoke(app, list(args), input=input)
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert "Traceback" not in done.output
    return done


def ok(*args: str, input: str | bytes | None = None) -> str:
    done = call(*args, input=input)
    assert done.exit_code == 0, done.output
    return done.stdout


def data(*args: str, input: str | None = None) -> Any:
    """The answer with --json: exactly one line."""
    line = ok(*args, "--json", input=input)
    assert line.count("\n") == 1
    return json.loads(line)


def tell(*more: str, content: str = TELL) -> str:
    return str(data("remember", content, *more)["id"])


def fails(code: int, *args: str, input: str | bytes | None = None) -> str:
    """What is said on standard error; nothing is on standard output."""
    done = call(*args, input=input)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    return done.stderr


# --- memories ---


def test_what_is_remembered_is_recalled_with_its_score_and_why() -> None:
    tell("--kind", "decision", "--tag", "db", "--source", "lead")
    said = ok("recall", ASK, "--why")
    assert re.search(rf"[█░]{{10}} 0\.\d\d  {TELL}\n", said)
    assert "decision" in said
    assert "#db" in said
    assert "by lead" in said
    assert "similarity" in said
    assert "recency" in said
    found = data("recall", ASK)
    assert found["hits"][0]["memory"]["content"] == TELL
    assert set(found["hits"][0]["why"]) >= {"similarity", "recency", "frequency", "words"}
    assert found["abstained"] is False


def test_the_same_words_again_are_known() -> None:
    id = tell()
    again = data("remember", TELL)
    assert (again["id"], again["created"]) == (id, False)
    assert "known already" in ok("remember", TELL)


def test_several_contents_are_stored_together_or_not_at_all() -> None:
    assert [one["created"] for one in data("remember", "one", "two", "three")] == [True] * 3
    fails(2, "remember", "four", " ")
    assert data("stats")["memories"] == 3
    assert "One id cannot name several" in fails(2, "remember", "a", "b", "--id", "x")


def test_everything_about_a_memory_can_be_said() -> None:
    given = "--kind lesson -t a -t b --meta ticket=42 --meta by=Ana --session s --source ana"
    given += " --role user --ttl 7d --happened-at 2026-05-03T09:30:00+02:00 --id my-id"
    ok("remember", "Never on Fridays", *given.split())
    record = data("show", "my-id")
    assert record["kind"] == "lesson"
    assert record["tags"] == ["a", "b"]
    assert record["meta"] == {"ticket": 42, "by": "Ana"}
    assert record["session"] == "s"
    assert record["source"] == {"writer": "ana", "role": "user"}
    assert record["happened_at"] == "2026-05-03T07:30:00Z"
    assert record["expires_at"] > record["created_at"]
    said = ok("show", "my-id")
    assert said.startswith("Never on Fridays\n")
    assert "2026-05-03T07:30:00Z" in said
    assert data("show", tell("--pinned", content="pinned"))["pinned"] is True


def test_content_and_questions_are_read_from_standard_input() -> None:
    id = data("remember", "-", input=f"{TELL}\n")["id"]
    assert data("show", id)["content"] == TELL
    assert TELL in ok("recall", "-", input=ASK)
    assert "not UTF-8" in fails(2, "remember", "-", input=b"\xff\xfe")


def test_recall_says_when_nothing_is_relevant_and_exits_with_1() -> None:
    said = fails(1, "recall", "copper price in Chile")
    assert "no memory in this scope" in said
    tell()
    assert "none is about this" in fails(1, "recall", "copper price in Chile")
    done = call("recall", "copper price in Chile", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == {"hits": [], "avoid": [], "abstained": True}


def test_recall_says_when_it_is_degraded(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory("default", url, embedder="hashing") as memory:
        memory.remember(TELL)
    monkeypatch.setattr("holdfast.embed.hashing.Hashing.embed", Broken().embed)
    done = call("recall", ASK)
    assert done.exit_code == 0
    assert TELL in done.stdout
    assert "Degraded, answered from words alone: The embedder 'hashing' failed" in done.stderr
    assert "no answer" in data("recall", ASK)["degraded"]


def test_an_embedder_that_is_not_here_is_6(url: str) -> None:
    with Memory("default", url, embedder=Broken()) as memory:
        memory.remember(TELL)
    assert "reembed" in fails(6, "recall", ASK)


class Broken:
    """An embedder that is down."""

    name, version, dimension, local = "broken", "1", 4, True

    def embed(self, *texts: object) -> Any:
        raise OSError("no answer")


def test_filters_reach_the_library() -> None:
    tell("--kind", "decision", "-t", "db", "--meta", "ticket=42", "--source", "lead")
    tell(content="The PostgreSQL store has a backup")
    for options in ("-k decision", "-t db", "--meta ticket=42", "--source lead"):
        assert len(data("recall", ASK, *options.split())["hits"]) == 1
        assert len(data("list", *options.split())["memories"]) == 1
    assert len(data("list", "--since", "2020-01-01")["memories"]) == 2
    assert len(data("list", "--until", "2020-01-01")["memories"]) == 0
    assert not data("list", "--as-of", "2020-01-01T00:00:00Z")["memories"]
    assert call("recall", ASK, "--min-score", "1").exit_code == 1
    weighted = data("recall", ASK, "--weights", "1,0,0", "--limit", "1")["hits"][0]
    assert weighted["score"] == pytest.approx(weighted["why"]["similarity"])
    far = data("recall", "the PostgreSQL store backup", "-k", "fact", "--now", "2090-01-01")
    assert far["hits"][0]["why"]["recency"] < 0.1


def test_several_scopes_are_looked_in_only_when_named() -> None:
    tell("-s", "team")
    assert call("recall", ASK).exit_code == 1
    hits = data("recall", ASK, "--in", "default", "--in", "team")["hits"]
    assert [hit["memory"]["scope"] for hit in hits] == ["team"]


def test_context_is_a_block_within_its_budget_or_nothing() -> None:
    assert ok("context", ASK) == ""
    tell()
    block = ok("context", ASK, "--budget", "200")
    assert block.startswith("<memories")
    assert TELL in block
    assert data("context", ASK)["context"] == block.rstrip("\n")
    assert ok("context", ASK, "--budget", "5") == ""


def test_list_goes_on_from_its_cursor() -> None:
    ids = [tell(content=f"number {n}") for n in range(5)]
    first = call("list", "--limit", "3")
    cursor = re.search(r"--cursor (\S+)", first.stderr)
    assert cursor
    rest = ok("list", "--cursor", cursor[1])
    assert [line.split()[0] for line in (first.stdout + rest).splitlines()] == ids[::-1]
    assert "no memory in this scope" in call("list", "-s", "empty").stderr


def test_a_revised_memory_has_a_history() -> None:
    id = tell()
    assert "version 2" in ok("revise", id, "Use PostgreSQL 18")
    said = ok("history", id)
    assert said.index(TELL) < said.index("Use PostgreSQL 18")
    old, new = data("history", id)
    assert old["until"] == new["created_at"]
    assert data("revise", id, "Use PostgreSQL 19")["version"] == 3


def test_explain_gives_a_verdict() -> None:
    id = tell("-k", "decision")
    assert ok("explain", id, ASK).startswith("returned: ")
    assert data("explain", id, ASK, "-k", "fact")["verdict"] == "filtered"
    assert data("explain", id, ASK, "--budget", "5")["verdict"] == "over budget"


# --- forgetting ---


def test_forget_asks_first_and_prints_a_receipt() -> None:
    id = tell()
    assert "Nothing was forgotten" in fails(1, "forget", id, input="n\n")
    assert "Nobody answered" in fails(2, "forget", id, input="")
    assert data("stats")["memories"] == 1
    said = ok("forget", id, input="y\n")
    assert "Forgot 1 memory and 0 state keys" in said
    assert re.search(r"digest  [0-9a-f]{32}", said)
    fails(3, "show", id)
    fails(3, "forget", id, "--yes")


def test_forget_by_filter_or_everything() -> None:
    tell("--session", "a")
    tell(content="another")
    ok("state", "set", "k", "1")
    assert data("forget", "--session", "a", "--yes")["memories"] == 1
    assert data("forget", "--session", "a", "--yes")["memories"] == 0
    everything = data("forget", "--everything", "-y")
    assert (everything["memories"], everything["states"]) == (1, 1)


def test_forget_must_be_told_what_before_it_asks() -> None:
    said = fails(2, "forget", input="y\n")
    assert "does not know what" in said
    assert "--everything" in said
    assert "one of" in fails(2, "forget", "x", "--everything", "--yes")


def test_purge_takes_the_bytes_out_of_the_file(tmp_path: Path) -> None:
    id = tell(content="the word is xyzzyplugh")
    ok("forget", id, "--yes")
    assert data("purge").keys() == {"memories", "states", "freed_bytes"}
    assert "Removed" in ok("purge")
    held = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert b"xyzzyplugh" not in held


# --- state ---


@pytest.mark.parametrize(
    ("typed", "value", "printed"),
    [
        ('{"row": 8000}', {"row": 8000}, '{"row":8000}\n'),
        ("five", "five", "five\n"),
        ("5", 5, "5\n"),
        ('"5"', "5", "5\n"),
        ("null", None, "null\n"),
        ("NaN", "NaN", "NaN\n"),
        ("é\x1b[31m", "é\x1b[31m", "é\\x1b[31m\n"),
    ],
)
def test_a_value_is_json_or_else_text(typed: str, value: object, printed: str) -> None:
    ok("state", "set", "k", typed)
    entry = data("state", "get", "k")
    assert entry["value"] == value
    assert entry["version"] == 1
    assert ok("state", "get", "k") == printed


def test_state_has_all_its_verbs() -> None:
    assert ok("state", "set", "cursor", "-", "--ttl", "12h", input='{"row": 1}\n').startswith(
        'cursor = {"row":1}'
    )
    assert "expires_at" in data("state", "get", "cursor")
    assert data("state", "append", "log", "one")["value"] == ["one"]
    assert data("state", "append", "log", "[2]")["value"] == ["one", [2]]
    assert data("state", "increment", "runs")["value"] == 1
    assert data("state", "increment", "runs", "--by", "-3")["value"] == -2
    assert data("state", "increment", "runs", "--by", "0.5")["value"] == -1.5
    assert data("state", "keys") == ["cursor", "log", "runs"]
    assert ok("state", "keys", "c") == "cursor\n"
    assert data("state", "keys", "--after", "cursor", "--limit", "1") == ["log"]
    assert data("state", "delete", "log") == {"deleted": True}
    assert "no such key" in fails(1, "state", "delete", "log")


def test_state_compares_and_sets() -> None:
    ok("state", "set", "k", "1", "--if-version", "0")
    assert "version 1" in fails(4, "state", "set", "k", "2", "--if-version", "0")
    fails(4, "state", "delete", "k", "--if-version", "7")
    ok("state", "set", "k", "2", "--if-version", "1")
    fails(3, "state", "get", "none")
    assert "not a number" in fails(2, "state", "increment", "k", "--by", "much")
    assert "no list" in fails(2, "state", "append", "k", "x")


def test_a_retry_with_the_same_key_is_not_done_again() -> None:
    for _ in range(2):
        ok("state", "increment", "paid", "--idempotency-key", "invoice-17")
    assert ok("state", "get", "paid") == "1\n"


# --- the store ---


def test_an_export_is_imported_equal(tmp_path: Path) -> None:
    id = tell("--kind", "decision")
    ok("revise", id, "Use PostgreSQL 18\u2028now")
    ok("state", "set", "k", "[1]")
    file = str(tmp_path / "out.jsonl")
    assert "Wrote 4 lines" in ok("export", file)
    printed = ok("export")
    assert printed == Path(file).read_text(encoding="utf-8")
    assert data("import", file, "-s", "copy") == {"added": 2, "known": 0, "states": 1}
    assert "Added 0 memories, knew 2" in ok("import", "-", "-s", "copy", input=printed)
    assert ok("export", "-s", "copy") == printed
    assert "exists already" in fails(4, "export", file)
    assert data("export", file, "--force") == {"file": file, "lines": 4}
    assert not list(tmp_path.glob("*.part"))


def test_an_import_is_all_or_nothing(tmp_path: Path) -> None:
    tell()
    good = ok("export")
    assert "Line 3" in fails(2, "import", "-", "-s", "copy", input=good + "{}\n")
    assert data("stats", "-s", "copy")["memories"] == 0
    assert "cannot be read" in fails(2, "import", str(tmp_path / "none"))
    assert "UTF-8" in fails(2, "import", "-", input=b"\xff")
    assert "cannot be written" in fails(2, "export", str(tmp_path / "no" / "folder"))


def test_a_backup_is_a_store(tmp_path: Path) -> None:
    tell()
    copy = str(tmp_path / "copy.db")
    assert "Copied" in ok("backup", copy)
    assert "exists already" in fails(4, "backup", copy)
    assert data("--url", f"sqlite:///{copy}", "stats")["memories"] == 1


def test_reembed_moves_a_store_whose_embedder_is_gone(url: str) -> None:
    with Memory("default", url, embedder=Broken()) as memory:
        memory.remember(TELL)
    fails(6, "list")
    assert data("reembed", "--embedder", "hashing")["done"] == 1
    assert TELL in ok("recall", ASK)
    assert "already" in ok("reembed", "-e", "hashing")
    assert "No embedder is called" in fails(2, "reembed", "-e", "nobody")


def test_the_doctor_finds_and_repairs(url: str) -> None:
    with Memory("default", url, embedder=None) as memory:
        memory.remember(TELL)
    done = call("doctor", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["healthy"] is False
    sick = call("doctor")
    assert sick.exit_code == 1
    assert "found  memories that wait for their vector: 1" in sick.stdout
    assert "repaired" in ok("doctor", "--repair")
    assert ok("doctor") == "Healthy.\n"
    assert data("doctor") == {"healthy": True, "findings": []}


def test_stats_count() -> None:
    tell("-k", "decision", "--session", "s")
    assert data("stats")["kinds"] == {"decision": 1}
    said = ok("stats")
    assert "1 (decision 1)" in said
    assert "dimensions" in said


# --- trying it ---


@pytest.mark.slow
def test_bench_measures_this_machine(tmp_path: Path) -> None:
    found = data("bench", "--memories", "20", "--folder", str(tmp_path))
    assert [row["what"] for row in found["rows"]][:1] == ["remember, one at a time"]
    assert all(row["p50_ms"] > 0 and row["per_second"] > 0 for row in found["rows"])
    assert "per second" in ok("bench", "-m", "20")
    assert not list(tmp_path.glob("holdfast-bench-*"))
    assert "not a folder" in fails(2, "bench", "--folder", str(tmp_path / "none"))


def test_the_demo_is_a_tour_when_nobody_types(tmp_path: Path) -> None:
    said = ok("demo", input="")
    assert ">>> memory.recall(" in said
    assert re.search(r"[█░]{10} 0\.\d\d  Use PostgreSQL", said)
    assert "<memories" in said
    assert data("demo")["state"] == {"row": 8000}
    assert not (tmp_path / "memory.db").exists()


def test_the_demo_answers_at_a_terminal() -> None:
    said = at_terminal("demo", typed="+The kettle is green\nwhich kettle is green?\nzebra\n\n")
    assert "Now you" in said
    assert re.search(r"The kettle is green\s", said.partition("which kettle")[2])
    assert "Nothing here is relevant" in said


def test_moving_a_store_shows_how_far_it_is(tmp_path: Path) -> None:
    old = f"sqlite:///{tmp_path / 'old.db'}"
    with Memory("s", old, embedder="hashing") as memory:
        memory.remember("likes tea")
    said = at_terminal("migrate-store", old, f"sqlite:///{tmp_path / 'new.db'}", columns=100)
    assert re.search(r"Moving .* 100%", said)
    assert "1 scope with 1 row" in said


def at_terminal(*args: str, typed: str = "", columns: int = 60) -> str:
    """What a person sees who types this at a real terminal."""
    parent, child = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    done = subprocess.Popen([*HOLDFAST, *args], stdin=child, stdout=child, stderr=child, env=env)
    os.close(child)
    os.write(parent, typed.encode())
    seen = b""
    try:
        while part := os.read(parent, 65536):
            seen += part
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    os.close(parent)
    assert done.wait() == 0, seen.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


# --- the whole ---


def test_options_stand_before_or_after_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    tell("--scope", "team")
    for args in (["-s", "team", "list"], ["list", "-s", "team"], ["-s", "x", "list", "-s", "team"]):
        assert TELL in ok(*args)
    monkeypatch.setenv("HOLDFAST_SCOPE", "team")
    assert TELL in ok("list")
    assert "no memory" in call("-s", "default", "list").stderr
    assert json.loads(ok("--json", "state", "set", "k", "1"))["value"] == 1
    assert json.loads(ok("state", "--json", "-s", "x", "set", "k", "2"))["value"] == 2
    assert ok("state", "get", "k", "-s", "x") == "2\n"


@pytest.mark.parametrize(
    ("code", "args", "words"),
    [
        (2, ["remember", ""], "content is empty"),
        (2, ["remember", "x" * 40_000], "32768"),
        (2, ["remember", "a\udcff"], "surrogate"),
        (2, ["remember", "a", "--ttl", "soon"], "30m, 12h, 7d"),
        (2, ["remember", "a", "--ttl", "999999999999w"], "too long"),
        (2, ["remember", "a", "--ttl", "0"], "more than 0"),
        (2, ["remember", "a", "--meta", "nothing"], "KEY=VALUE"),
        (2, ["remember", "a", "--source", "x", "--role", "king"], "role"),
        (2, ["remember", "a", "--happened-at", "2026-05-03T09:30"], "no time zone"),
        (2, ["list", "--since", "yesterday"], "not a time"),
        (2, ["list", "--since", "2026-02-30"], "not a time"),
        (2, ["list", "--since", "2026-05-03", "--until", "2026-05-03"], "Swap"),
        (2, ["list", "--limit", "0"], "limit"),
        (2, ["list", "--cursor", "x"], "cursor"),
        (2, ["recall", "a", "--weights", "1,2"], "three numbers"),
        (2, ["recall", "a", "--weights", "1,1,1"], "add up"),
        (2, ["recall", "a", "--min-score", "nan"], "finite"),
        (2, ["recall", "a", "-s", "b\x07d"], "control"),
        (2, ["recall", "a", "-s", ""], "scope"),
        (2, ["--url", "mysql://x", "list"], "sqlite:///"),
        (3, ["show", "nobody"], "no memory"),
        (3, ["history", "nobody"], "no memory"),
        (3, ["revise", "nobody", "x"], "no memory"),
        (3, ["explain", "nobody", "x"], "no memory"),
        (5, ["--url", "sqlite:////etc/passwd", "list"], "not a SQLite file"),
        (5, ["--url", "sqlite:////proc/none/a.db", "list"], "cannot be opened"),
    ],
)
def test_what_is_wrong_is_said_in_words_and_in_json(code: int, args: list[str], words: str) -> None:
    said = fails(code, *args)
    assert said.startswith("holdfast: ")
    assert words in said
    error = json.loads(fails(code, "--json", *args))
    assert set(error) == {"error", "message", "advice"}
    assert words in error["message"] + error["advice"]


@pytest.mark.parametrize("args", [["recall"], ["list", "--nope"], ["lst"], ["--nope"]])
def test_wrong_usage_is_2_and_json_if_asked(args: list[str]) -> None:
    assert "Usage" in fails(2, *args)
    assert json.loads(fails(2, *args, "--json"))["error"] == "Invalid"


def test_a_conflict_is_4() -> None:
    tell("--id", "mine")
    assert "taken" in fails(4, "remember", "other words", "--id", "mine")


def test_a_newer_store_is_refused(tmp_path: Path, url: str) -> None:
    import sqlite3

    tell()
    db = sqlite3.connect(tmp_path / "memory.db")
    db.execute("PRAGMA user_version = 999")
    db.close()
    error = json.loads(fails(5, "list", "--json"))
    assert error["error"] == "StoreTooNew"


def test_content_cannot_drive_the_terminal() -> None:
    id = tell(content="red \x1b[31m\x07 alert\u202e\nsecond line")
    for args in (["list"], ["show", id], ["recall", "red alert second line"], ["history", id]):
        said = ok(*args)
        assert "\x1b" not in said
        assert "\x07" not in said
        assert "\u202e" not in said
        assert "\\x1b[31m" in said


def test_long_content_is_whole_in_a_pipe_and_cut_at_a_terminal() -> None:
    long = "word " * 60 + "end"
    tell(content=long)
    assert long in ok("list")
    seen = at_terminal("list", columns=60)
    assert "end" not in seen
    assert "…" in seen


@pytest.mark.slow
def test_a_closed_pipe_is_quiet() -> None:
    with Memory("default") as memory:
        memory.remember_many([f"number {n} {'x' * 500}" for n in range(900)])
    for args in ("export", "list --limit 900", "list --limit 900 --json"):
        done = subprocess.run(
            f"{' '.join(HOLDFAST)} {args} | head -c 10",
            shell=True,
            check=False,
            capture_output=True,
            text=True,
        )
        assert len(done.stdout) == 10
        assert "Broken" not in done.stderr
        assert "Traceback" not in done.stderr


def test_help_names_every_command_and_the_exit_codes() -> None:
    said = ok("--help")
    assert "Exit codes" in said
    for name in ("remember", "recall", "state", "export", "doctor", "demo"):
        assert name in said
    assert "Example: holdfast recall" in ok("recall", "--help")
    assert "Example: holdfast state set cursor" in ok("state", "set", "-h")
    assert ok("--version") == f"holdfast {__version__}\n"


def test_the_program_itself_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [*HOLDFAST, "remember", "é ü 漢字"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
        capture_output=True,
    )
    assert b"remembered" in done.stdout
    listed = subprocess.run(
        [*HOLDFAST, "list"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
        capture_output=True,
    )
    assert b"\\xe9" in listed.stdout


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, None),
        ("sqlite:///a:b.db", "sqlite:///a:b.db"),
        ("postgresql://ann:hush@db:5432/x", "postgresql://ann:***@db:5432/x"),
        (
            "postgresql://db/x?user=ann&password=hush&a=b",
            "postgresql://db/x?user=ann&password=***&a=b",
        ),
    ],
)
def test_a_password_is_not_shown(given: str | None, shown: str | None) -> None:
    assert _without_password(given) == shown


# --- keys ---


def test_a_key_is_shown_once_and_changed_by_its_name() -> None:
    how = ("--right", "read", "--prefix", "team/", "--lasts", "90d", "--tenant", "acme")
    made = data("keys", "create", "support", *how)
    assert made["key"].startswith("hf_")
    listed = ok("keys", "list")
    assert "support" in listed
    assert "team/" in listed
    (told,) = data("keys", "list")
    assert (told["tenant"], told["rights"], told["prefix"]) == ("acme", ["read"], "team/")
    assert not {"digest", "key", "secret"} & told.keys()
    turned = data("keys", "rotate", "support", "--tenant", "acme")
    assert turned["key"] != made["key"]
    assert turned["id"] == made["id"]
    assert "there is a key" in fails(4, "keys", "create", "support", "--tenant", "acme").lower()
    assert data("keys", "revoke", "support", "--tenant", "acme")["revoked_at"]
    assert "no key" in fails(3, "keys", "rotate", "support", "--tenant", "acme")
