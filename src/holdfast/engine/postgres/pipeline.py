"""Statements in a pipeline: they go out together, and only who looks at an answer waits for it.

By libpq itself. Cursors take several times as long as most of our statements do at the server;
connections, types and errors are psycopg's.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import PipelineAborted, error_from_result
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

PREPARED = 400  # statements that a connection keeps prepared; there are fewer
BINARY = pq.Format.BINARY
FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED)
NO_ROW: dict[str, int] = {}

_AUTO = [PyFormat.AUTO] * 64  # more than the values of any statement
Kind = tuple[str, tuple[int, ...]]  # a statement and the types of its values


class Row(tuple[Any, ...]):
    """A row whose values have names, too."""

    at = NO_ROW
    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.at[key] if isinstance(key, str) else key)


@lru_cache(maxsize=256)
def _named(names: tuple[str, ...]) -> type[Row]:
    return type("Row", (Row,), {"at": {name: i for i, name in enumerate(names)}, "__slots__": ()})


class Prepared:
    """A statement that the server knows by a name."""

    __slots__ = ("name", "row")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.row: type[Row] | None = None


class Answer:
    """The answer to a statement, which is waited for when it is looked at."""

    __slots__ = ("_asked", "_pipeline", "result")

    def __init__(self, pipeline: Pipeline, asked: Prepared) -> None:
        self._pipeline, self._asked = pipeline, asked
        self.result: pq.abc.PGresult | None = None

    def fetchall(self) -> list[Row]:
        """All rows."""
        result = self._pipeline.waited_for(self)
        return self._pipeline.rows(result, self._asked) if result.ntuples else []

    def fetchone(self) -> Row | None:
        """The first row."""
        found = self.fetchall()
        return found[0] if found else None

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchall())

    @property
    def rowcount(self) -> int:
        """How many rows were found, or written."""
        return self._pipeline.waited_for(self).command_tuples or 0


class Pipeline:
    """What goes to a server over one connection, and comes back in the same order."""

    def __init__(self, db: psycopg.Connection[Any]) -> None:
        # One type for all numbers, or a statement would be prepared for small ones and for large.
        for each in (Int8Dumper, Int8BinaryDumper):
            db.adapters.register_dumper(int, each)
        self._db, self._pg = db, db.pgconn
        self._types = Transformer(db)
        self._known: dict[Kind, Prepared] = {}
        self._sent: deque[Answer | Kind | None] = deque()  # a kind is prepared; None is a sync
        self._ended = True  # no transaction is under way
        self._held_back = False  # something is sent that the server need not answer yet
        self._readable, self._either = select.poll(), select.poll()
        self._readable.register(self._pg.socket, select.POLLIN)
        self._either.register(self._pg.socket, select.POLLIN | select.POLLOUT)
        self._pg.enter_pipeline_mode()

    @property
    def usable(self) -> bool:
        """Whether another transaction may begin on it."""
        return self._ended and self._pg.status == pq.ConnStatus.OK and len(self._known) <= PREPARED

    def close(self) -> None:
        """Ends the connection."""
        self._db.close()

    # --- sending ---

    def send(self, sql: str, values: Sequence[Any] = ()) -> Answer:
        """Sends a statement, soon."""
        types, pg = self._types, self._pg
        told = types.dump_sequence(values, _AUTO[: len(values)])
        kind = sql, types.types or ()
        known = self._known.get(kind)
        if known is None:
            known = self._known[kind] = Prepared(b"holdfast_%d" % len(self._known))
            pg.send_prepare(known.name, sql.encode(), kind[1])
            self._sent.append(kind)
        pg.send_query_prepared(known.name, told, types.formats, BINARY)
        self._held_back = True
        answer = Answer(self, known)
        self._sent.append(answer)
        return answer

    def go(self) -> None:
        """Lets the server begin with what was sent, whoever looks at the answers and when."""
        if self._held_back:
            self._pg.send_flush_request()
            self._flush()

    def begin(self, sql: str) -> None:
        """Begins a transaction."""
        self._ended = False
        self.send(sql)

    def commit(self, wait: bool) -> None:
        """Ends a transaction; one that only read, and knows all answers, need not wait for it."""
        wait = wait or bool(self._sent)
        self._end(b"COMMIT")
        self._sync()
        self._flush()
        while wait and self._sent:
            self._take()
        self._ended = True

    def roll_back(self) -> None:
        """Ends a transaction that failed; answers that nobody looked at are let go."""
        self._settle()
        if self._pg.transaction_status != pq.TransactionStatus.IDLE:
            self._end(b"ROLLBACK")
            self._settle()
        self._ended = True

    def _end(self, sql: bytes) -> None:
        self._pg.send_query_params(sql, None)
        self._sent.append(Answer(self, Prepared(b"")))

    def _settle(self) -> None:
        self._sync()
        self._flush()
        while self._sent:
            try:
                self._take()
            except psycopg.Error:
                if self._pg.status != pq.ConnStatus.OK:
                    raise

    def _sync(self) -> None:
        self._pg.pipeline_sync()
        self._sent.append(None)

    def _flush(self) -> None:
        self._held_back = False
        while self._pg.flush():
            # The server may wait for us to read before it reads on.
            if self._either.poll()[0][1] & ~select.POLLOUT:
                self._pg.consume_input()

    # --- receiving ---

    def waited_for(self, answer: Answer) -> pq.abc.PGresult:
        """What the server answered."""
        if answer.result is None:
            self.go()
            while answer.result is None:
                self._take()
        return answer.result

    def rows(self, result: pq.abc.PGresult, asked: Prepared) -> list[Row]:
        """The rows of an answer."""
        if asked.row is None:
            names = [result.fname(at) or b"" for at in range(result.nfields)]
            asked.row = _named(tuple(name.decode() for name in names))
        self._types.set_pgresult(result, set_loaders=True, format=BINARY)
        return self._types.load_rows(0, result.ntuples, asked.row)

    def _take(self) -> None:
        """Takes in the next of the answers that are on their way."""
        sent = self._sent.popleft()
        result = self._next()
        if result is None:
            raise psycopg.OperationalError("the server ended the pipeline")
        if sent is not None:
            self._next()  # nothing, which ends the answer
        if result.status in FAILED:
            if isinstance(sent, tuple):
                self._known.pop(sent, None)
            raise self._error(result)
        if isinstance(sent, Answer):
            sent.result = result

    def _error(self, result: pq.abc.PGresult) -> psycopg.Error:
        if result.status == pq.ExecStatus.PIPELINE_ABORTED:
            return PipelineAborted("a statement before this one failed")
        error = error_from_result(result)
        if error.sqlstate is None and self._pg.status != pq.ConnStatus.OK:
            return psycopg.OperationalError(self._pg.get_error_message())
        return error

    def _next(self) -> pq.abc.PGresult | None:
        pg = self._pg
        while pg.is_busy():
            self._readable.poll()
            pg.consume_input()
        return pg.get_result()
