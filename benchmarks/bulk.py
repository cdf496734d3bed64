"""Filling a scope of a PostgreSQL by COPY: the very rows that remembering writes, but a million.

The first memory is remembered, so that the store, the scope and the embedder are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import psycopg

from benchmarks import workload
from benchmarks.sized import BATCH, drafts
from benchmarks.workload import Free, Texts
from holdfast import Memory, keeping, learning
from holdfast.engine import Place
from holdfast.engine.columns import changeable, packed, words_of
from holdfast.engine.postgres import words
from holdfast.engine.postgres.search import facets
from holdfast.service import new_id

MEMORIES = """tenant, scope, row, id, version, facets, vectors, speaker, length, fingerprint,
    content, terms, kind, tags, meta, session, writer, role, message, pinned, created_at,
    happened_at, expires_at, until, superseded_by, uses, last_used_at, avoid"""
SCOPES = "tenant, scope, name, last_row, last_change, held, terms, near"
TENANT = "local"
UNLIKE = 1_000  # small scopes that differ
FREE = Free()  # one: what its vectors are made of takes longer to make than a scope

Line = tuple[Any, ...]


def fill(url: str, admin: str, scope: str, count: int) -> None:
    """Fills a new scope with so many memories; `admin` may COPY despite row-level security."""
    texts = Texts()
    with Memory(scope, url, embedder=FREE) as memory:
        memory.remember(drafts(texts, 0, 1)[0].content)
    with psycopg.connect(admin) as db:
        found = db.execute(
            "SELECT m.scope, m.row, m.terms FROM holdfast.scopes s JOIN holdfast.memories m "
            "USING (tenant, scope) WHERE s.tenant = %s AND s.name = %s",
            (TENANT, scope),
        ).fetchone()
        assert found is not None
        at, row, terms, left = (TENANT, found[0]), 1, 0, [(found[1], found[2])]
        for start, some in workload.batches(count - 1, BATCH):
            lines = list(_lines(texts, at, scope, start + 1, some))
            _copy(db, f"memories ({MEMORIES})", lines)
            terms += sum(line[8] for line in lines)
            row += len(lines)
            left += [(line[2], line[11]) for line in lines]
            left = _list(db, at, left, row)
        db.execute(
            "UPDATE holdfast.scopes SET last_row = %s, held = %s, terms = terms + %s "
            "WHERE tenant = %s AND scope = %s",
            (row, row, terms, *at),
        )
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")


def fill_scopes(url: str, admin: str, prefix: str, scopes: int, each: int) -> None:
    """Fills many scopes with so few that none of them has word lists.

    After the first thousand the database copies them: no scope knows what others hold.
    """
    texts = Texts()
    with Memory(f"{prefix} first", url, embedder=FREE) as memory:
        memory.remember("so that the embedder is known")
    with psycopg.connect(admin) as db:
        for number in range(min(scopes, UNLIKE)):
            at, name = (TENANT, number + 1), f"{prefix}{number}"
            lines = list(_lines(texts, at, name, number * each, each, first=1))
            _copy(db, f"memories ({MEMORIES})", lines)
            held = each, 0, each, sum(line[8] for line in lines), 0
            _copy(db, f"scopes ({SCOPES})", [(*at, name, *held)])
        for more in range(UNLIKE, scopes, UNLIKE):
            some = min(UNLIKE, scopes - more)
            _copy_scopes(
                db, "memories", MEMORIES, some, more, scope="scope + %s", id="id || ' ' || %s"
            )
            name = f"'{prefix}' || scope - 1 + %s"
            _copy_scopes(db, "scopes", SCOPES, some, more, scope="scope + %s", name=name)
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")


def _copy_scopes(
    db: psycopg.Connection[Any], table: str, columns: str, some: int, more: int, **new: str
) -> None:
    """Copies the rows of the first scopes to scopes with higher numbers."""
    told = ", ".join(new.get(name.strip(), name) for name in columns.split(","))
    asked = f"SELECT {told} FROM holdfast.{table} WHERE tenant = %s AND scope <= %s"
    values = (*[more] * len(new), TENANT, some)
    db.execute(f"INSERT INTO holdfast.{table} ({columns}) {asked}".encode(), values)


def _lines(
    texts: Texts, at: words.At, scope: str, start: int, count: int, first: int | None = None
) -> Iterator[Line]:
    """Memories as rows, numbered from `first` on; or else from the text's own number on."""
    some = drafts(texts, start, count)
    now, place = datetime.now(timezone.utc), Place(TENANT, scope)
    for row, (told, vector) in enumerate(
        zip(some, FREE.embed([told.content for told in some]), strict=True), first or start + 1
    ):
        record = learning.record(told, place, new_id(), now)
        draft = keeping.indexed(record, vector[None], None)
        marks = facets(record.tags, record.meta)
        line = *at, row, record.id, 1, marks, packed(draft.vectors)
        yield *line, *words_of(draft), *changeable(record)


def _list(
    db: psycopg.Connection[Any], at: words.At, told: list[tuple[int, str]], last: int
) -> list[tuple[int, str]]:
    """Writes the word lists of whole blocks; gives the rows that are left."""
    reach = words.listed_to(last)
    for end in range(words.listed_to(told[0][0] - 1) + words.BLOCK, reach + 1, words.BLOCK):
        block = [(row, terms) for row, terms in told if end - words.BLOCK < row <= end]
        _copy_words(db, at, end // words.BLOCK - 1, words.lists(block))
        told = [pair for pair in told if pair[0] > end]
    return told


def _copy_words(
    db: psycopg.Connection[Any], at: words.At, block: int, held: dict[str, list[int]]
) -> None:
    """By text of our own: psycopg would take ten times as long to write so many lists.

    Tokens are letters and digits and their marks, in which there is nothing to escape.
    """
    before, after = f"{at[0]}\t{at[1]}\t", f"\t{block}\t{{"
    lines = [f"{before}{key}{after}{str(held[key])[1:-1]}}}\n" for key in sorted(held)]
    with db.cursor() as cursor, cursor.copy(b"COPY holdfast.words FROM STDIN") as copy:
        copy.write("".join(lines))


def _copy(db: psycopg.Connection[Any], table: str, lines: list[Line]) -> None:
    with db.cursor() as cursor, cursor.copy(f"COPY holdfast.{table} FROM STDIN".encode()) as copy:
        for line in lines:
            copy.write_row(line)
