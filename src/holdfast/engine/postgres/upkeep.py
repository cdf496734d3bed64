"""Keeping a store in order: its embedder, its indexes, its expired rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from holdfast.engine import Engine, Place, Space, Vectors, Waiting, open_engine
from holdfast.engine.columns import packed
from holdfast.engine.moving import move
from holdfast.engine.postgres import near, words
from holdfast.engine.postgres.connections import EVERY
from holdfast.engine.postgres.rows import Rows, place_key
from holdfast.engine.postgres.scopes import At
from holdfast.engine.postgres.search import space_number
from holdfast.errors import Conflict
from holdfast.model import Finding

Run = Callable[[Callable[[Rows], Any]], Any]


def claim(rows: Rows, space: Space) -> Space:
    """The embedder the store belongs to, which is this one if it had none."""
    rows.db.do("lock_spaces")
    found = rows.db.one("current_space")
    if found is not None:
        return Space(*found[1:])
    rows.db.do("add_space", space.name, space.version, space.dimension, 1)
    return space


def waiting(rows: Rows, limit: int, place: Place | None) -> list[Waiting]:
    """Rows without vectors, of one place or of the whole store."""
    if place is not None:
        at = rows.scope(place)
        return [Waiting(at, *row) for row in rows.db.all("waiting", *at, limit)]
    rows.db.enter(EVERY)
    found = rows.db.all("all_waiting", limit)
    return [Waiting(At(tenant, scope), row, content) for tenant, scope, row, content in found]


def fill(rows: Rows, space: Space, waiting: Sequence[Waiting], vectors: Sequence[Vectors]) -> None:
    """Gives waiting rows their vectors; rows forgotten meanwhile are passed over."""
    for at in sorted({item.scope for item in waiting}):
        rows.lock(at)
    space_number(rows.db.one("current_space"), space)
    for item, found in zip(waiting, vectors, strict=True):
        if rows.lock(item.scope) and rows.db.one(
            "put_vectors", *item.scope, item.row, packed(found)
        ):
            rows.note_change(item.scope, item.row)


def next_rows(rows: Rows, space: Space, batch: int) -> list[Waiting]:
    """The next rows that a change of embedder has to do; begins, or begins anew, if it must."""
    db = rows.db
    db.enter(EVERY)
    db.do("lock_spaces")
    coming = db.one("coming_space")
    if coming is not None and Space(*coming[1:4]) != space:
        db.do("drop_all_coming")
        db.do("drop_space", coming[0])
        coming = None
    if coming is None:
        db.do("add_space", space.name, space.version, space.dimension, 0)
    reached = ("", 0, 0) if coming is None else coming[4:]
    found = db.all("rows_after", *reached, batch) or db.all("rows_left", batch)
    return [Waiting(At(tenant, scope), row, content) for tenant, scope, row, content in found]


def advance(
    rows: Rows, space: Space, done: Sequence[Waiting], vectors: Sequence[Vectors]
) -> tuple[int, int]:
    """Writes new vectors; when none is missing any more, moves the store over to them."""
    db = rows.db
    db.enter(EVERY)
    db.do("lock_spaces")
    coming = db.one("coming_space")
    if coming is None or Space(*coming[1:4]) != space:
        raise Conflict("Another change of embedder is under way.", "Let only one run.")
    for item, found in zip(done, vectors, strict=True):
        db.do("put_coming", *item.scope, item.row, packed(found))
    if done and (*done[-1].scope, done[-1].row) > tuple(coming[4:]):
        db.do("reach_space", *done[-1].scope, done[-1].row, coming[0])
    if not done:
        db.do("lock_scopes")  # every writer waits, so that no row comes meanwhile
    left, total = _count(rows, "count_rows_left"), _count(rows, "count_rows")
    if not left and not done:
        _switch(rows, coming[0])
    # Those that came meanwhile are looked for once more before it is over.
    return total - left if not done else min(total - left, max(total - 1, 0)), total


def _count(rows: Rows, name: str) -> int:
    row = rows.db.one(name)
    return int(row[0]) if row else 0


def _switch(rows: Rows, coming: int) -> None:
    for old in rows.db.all("current_space"):
        rows.db.do("drop_space", old[0])
    for tenant, number, _ in rows.db.all("near_scopes"):  # they are made anew, of the new vectors
        near.remove(rows.db, (tenant, number))
        rows.db.do("set_near", tenant, number, near.NONE)
    rows.db.do("take_coming")
    rows.db.do("drop_all_coming")
    rows.db.do("switch_space", coming)


def check(rows: Rows, repair: bool) -> list[Finding]:
    """What is wrong with the indexes, put right if asked."""
    missing, extra = _check_words(rows, repair)
    counted = {
        "words missing from the text index": missing,
        "words in the text index of no memory": extra,
        "vectors of a wrong length": _check_vectors(rows, repair),
        "scopes that are counted wrong": _check_counts(rows, repair),
        "memories not in the index of their large scope": _check_near(rows, repair),
    }
    return [Finding(what, n, repair) for what, n in counted.items() if n]


def _check_words(rows: Rows, repair: bool) -> tuple[int, int]:
    missing = extra = 0
    for tenant, number, _, last_row in _all(rows, "every_scope"):
        at = At(tenant, number)
        if repair and not rows.lock(at):
            continue
        lacks, spare = words.faults(rows.db, at, rows.counted(at, last_row))
        if (lacks or spare) and repair:
            words.rebuild(rows.db, at, rows.counted(at, last_row))
        missing, extra = missing + lacks, extra + spare
    return missing, extra


def _check_vectors(rows: Rows, repair: bool) -> int:
    odd = _all(rows, "odd_vectors")
    for tenant, number, row in odd if repair else ():
        if rows.lock(At(tenant, number)):
            rows.db.do("no_vectors", tenant, number, row)
            rows.note_change(At(tenant, number), row)
    return len(odd)


def _check_counts(rows: Rows, repair: bool) -> int:
    wrong = [
        (At(tenant, number), held, terms)
        for tenant, number, _, *told, held, terms in _all(rows, "every_scope_sized")
        if told != [held, terms]
    ]
    for at, held, terms in wrong if repair else ():
        if rows.lock(at):
            rows.recount(at, held, terms)
    return len(wrong)


def _check_near(rows: Rows, repair: bool) -> int:
    """Looks through the indexes of large scopes; a wrong one goes, and is made anew when needed."""
    space = rows.db.one("current_space")
    dimension, missing = int(space["dimension"]) if space else 0, 0
    for tenant, number, state in _all(rows, "near_scopes"):
        at = At(tenant, number)
        if state != near.READY or (repair and not rows.lock(at)):
            continue  # one that is being filled lacks rows, as it should
        lacks = near.faults(rows.db, at, dimension) if dimension else 0
        missing += lacks
        if lacks and repair:
            near.remove(rows.db, at)
            rows.set_near(at, near.NONE)
    return missing


# --- what has expired ---


def sweep(run: Run, now: int, answers_from: int) -> tuple[int, int]:
    """Removes what has expired, and answers too old to be asked for again; scope by scope."""
    memories = entries = 0
    for tenant, number in run(lambda tx: _all(tx, "expired_scopes", now)):
        gone = run(partial(_sweep_scope, at=At(tenant, number), now=now))
        memories, entries = memories + gone[0], entries + gone[1]
    run(lambda tx: _do(tx, "drop_old_answers", answers_from))
    run(_blank_stale_answers)
    for tenant, number in run(lambda tx: _all(tx, "empty_scopes")):
        run(partial(_drop_if_empty, at=At(tenant, number)))
    run(_drop_left_over)
    return memories, entries


def _all(tx: Rows, name: str, *values: Any) -> list[tuple[Any, ...]]:
    tx.db.enter(EVERY)
    return [tuple(row) for row in tx.db.all(name, *values)]


def _do(tx: Rows, name: str, *values: Any) -> None:
    tx.db.enter(EVERY)
    tx.db.do(name, *values)


def sweep_some(run: Run, now: int, most: int) -> int:
    """Removes what has expired of a scope, of each kind so many at most; gives how many."""
    for tenant, number in run(lambda tx: _all(tx, "expired_scopes", now)):
        if gone := sum(run(partial(_sweep_scope, at=At(tenant, number), now=now, most=most))):
            return gone
    return 0


def _sweep_scope(tx: Rows, at: At, now: int, most: int = 2**62) -> tuple[int, int]:
    if not tx.lock(at):
        return 0, 0
    place = tx.place(at)
    memories = tx.db.all("expired_memories", *at, now, most)
    for (id,) in memories:
        tx.drop(at, place, id)
    entries = tx.db.all("expired_entries", *at, now, most)
    for key, version in entries:
        tx.drop_key(at, place, key, version)
    return len(memories), len(entries)


def _drop_if_empty(tx: Rows, at: At) -> None:
    if tx.lock(at):
        tx.db.enter(EVERY)
        if at in [At(*row) for row in tx.db.all("empty_scopes")]:
            tx.db.enter(at.tenant)
            tx.drop_all_learned(at)
            tx.drop_scope(at)


def _drop_left_over(tx: Rows) -> None:
    """Removes tables of large scopes that a role could only empty, which did not own them."""
    for (number,) in _all(tx, "left_over"):
        near.remove(tx.db, (EVERY, number))


def _blank_stale_answers(tx: Rows) -> None:
    """Empties answers that name a memory which is no longer there."""
    scopes = {
        place_key(Place(tenant, name)): At(tenant, number)
        for tenant, number, name, _ in _all(tx, "every_scope")
    }
    for tenant, place in _all(tx, "places_answered"):
        told = tx.db.all("told_answers", tenant, place)
        named = {key: set(_ids(json.loads(answer))) for key, answer in told}
        at, ids = scopes.get(place), sorted(set().union(*named.values()))
        known = {row[0] for row in tx.db.all("known_ids", *at, ids)} if at and ids else set()
        for key, these in named.items():
            if these - known:
                tx.db.do("blank_answer", tenant, place, key)


def _ids(answer: Any) -> Iterator[str]:
    """Every id that an answer names."""
    if isinstance(answer, dict):
        if isinstance(answer.get("id"), str):
            yield answer["id"]
        answer = list(answer.values())
    if isinstance(answer, list):
        for part in answer:
            yield from _ids(part)


def backup(store: Engine, path: str) -> int:
    """Copies a store to a new SQLite file, whole or not at all; gives its bytes."""
    target = Path(path).expanduser().absolute()
    if target.exists():
        raise Conflict(f"{target} exists already.", "Choose a new name for the backup.")
    part = target.with_name(f"{target.name}.part")
    _remove(part)
    try:
        with closing(open_engine(f"sqlite:///{part}")) as copy:
            move(store, copy, "backup")
        part.rename(target)
    finally:
        _remove(part)
    return target.stat().st_size


def _remove(part: Path) -> None:
    for file in (part, Path(f"{part}-wal"), Path(f"{part}-shm")):
        file.unlink(missing_ok=True)


TABLES = """SELECT relname, CASE WHEN current_setting('server_version_num')::integer < 170000
    THEN pg_has_role(relowner, 'USAGE') ELSE has_table_privilege(oid, 'MAINTAIN') END
FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'r'
    AND pg_relation_size(oid) > 0"""  # each, and whether this role may rewrite it


def compact(db: psycopg.Connection[Any]) -> None:
    """Rewrites every table with nothing in it but what is stored, and counts it for the planner."""
    found = db.execute(TABLES).fetchall()
    if not all(may for _, may in found):  # the server would pass them over, and only warn
        raise InsufficientPrivilege("not the owner of all tables")
    for name, _ in found:
        db.execute(sql.SQL("VACUUM (FULL, ANALYZE) holdfast.{}").format(sql.Identifier(name)))
