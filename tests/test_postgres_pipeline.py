"""Statements in a pipeline: what comes back, and what is left of one that failed."""

from collections.abc import Iterator

import psycopg
import pytest

from holdfast.engine.postgres import pipeline as module
from holdfast.engine.postgres.pipeline import Pipeline

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@pytest.fixture
def pipeline(postgres_url: str) -> Iterator[Pipeline]:
    opened = Pipeline(psycopg.connect(postgres_url, autocommit=True))
    yield opened
    opened.close()


def test_values_come_back_as_they_went(pipeline: Pipeline) -> None:
    values = [1, -(2**62), "tea, \u00e9\U0001f375", b"\x00\xff", None, [1, 2**40], ["a", 'b"\\,{}']]
    types = ("bigint", "bigint", "text", "bytea", "text", "bigint[]", "text[]")
    told = ", ".join(f"${at}::{kind} AS v{at}" for at, kind in enumerate(types, 1))
    row = pipeline.send(f"SELECT {told}", values).fetchone()
    assert row is not None
    assert list(row) == values
    assert (row["v3"], row[2]) == (values[2], values[2])


def test_small_and_large_numbers_are_one_statement(pipeline: Pipeline) -> None:
    for number in (1, 2**20, 2**60):
        assert pipeline.send("SELECT $1::bigint", [number]).fetchone() == (number,)
    names = pipeline.send("SELECT count(*) FROM pg_prepared_statements").fetchone()
    assert names == (2,)


def test_answers_are_read_in_any_order(pipeline: Pipeline) -> None:
    first, second = (pipeline.send("SELECT $1::bigint", [n]) for n in (1, 2))
    assert (second.fetchone(), first.fetchone()) == ((2,), (1,))
    assert pipeline.send("SELECT 1 WHERE false").fetchone() is None


def test_more_goes_out_than_the_server_takes_before_it_is_read(pipeline: Pipeline) -> None:
    pipeline.begin("BEGIN")
    sent = [pipeline.send("SELECT $1::text", ["tea" * 3000]) for _ in range(3000)]
    pipeline.commit(wait=True)
    assert {answer.fetchone() for answer in sent} == {("tea" * 3000,)}


def test_what_failed_is_told_once_and_leaves_the_connection_usable(pipeline: Pipeline) -> None:
    pipeline.begin("BEGIN")
    pipeline.send("SELECT 1 / $1::bigint", [0])
    later = pipeline.send("SELECT 2")
    with pytest.raises(psycopg.errors.DivisionByZero):
        later.fetchone()
    assert not pipeline.usable
    pipeline.roll_back()
    assert pipeline.usable
    # What followed the failure was never prepared, and is now.
    assert pipeline.send("SELECT 2").fetchone() == (2,)
    assert pipeline.send("SELECT 1 / $1::bigint", [1]).fetchone() == (1,)


def test_a_commit_tells_of_a_failure_that_nobody_looked_at(pipeline: Pipeline) -> None:
    pipeline.begin("BEGIN")
    pipeline.send("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        pipeline.commit(wait=False)
    pipeline.roll_back()
    assert pipeline.send("SELECT 1").fetchone() == (1,)


def test_a_read_ends_without_a_wait_and_the_next_begins_behind_it(pipeline: Pipeline) -> None:
    for n in range(3):
        pipeline.begin(READ)
        assert pipeline.send("SELECT $1::bigint", [n]).fetchone() == (n,)
        pipeline.commit(wait=False)
        assert pipeline.usable
    state = "SELECT current_setting('transaction_read_only')"
    assert pipeline.send(state).fetchone() == ("off",)


def test_a_connection_with_too_many_statements_is_not_used_again(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PREPARED", 3)
    for n in range(3):
        assert pipeline.usable
        pipeline.send(f"SELECT {n}").fetchone()
    assert pipeline.usable
    pipeline.send("SELECT 3").fetchone()
    assert not pipeline.usable


def ask(pipeline: Pipeline, times: int) -> None:
    for _ in range(times):
        pipeline.send("SELECT 1").fetchone()


def test_a_server_that_ends_the_connection_is_told(pipeline: Pipeline) -> None:
    pipeline.begin("BEGIN")
    pipeline.send("SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(psycopg.OperationalError):
        ask(pipeline, 100)  # it may still answer the one or other
    with pytest.raises(psycopg.OperationalError):
        pipeline.roll_back()
    assert not pipeline.usable
