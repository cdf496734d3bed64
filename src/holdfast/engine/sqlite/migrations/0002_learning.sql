-- Learning: what a memory came from, what it says of whom, what waits to be learned or approved.

ALTER TABLE memories ADD COLUMN avoid INTEGER NOT NULL DEFAULT 0;

CREATE INDEX memories_avoid ON memories (scope) WHERE avoid = 1;
CREATE INDEX memories_superseded ON memories (scope, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE links (
    scope    INTEGER NOT NULL,
    id       TEXT NOT NULL,
    relation TEXT NOT NULL,
    other    TEXT NOT NULL,
    PRIMARY KEY (scope, id, relation, other)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_other ON links (scope, other, relation);

CREATE TABLE tellings (
    scope   INTEGER NOT NULL,
    id      TEXT NOT NULL,
    writer  TEXT NOT NULL,
    role    TEXT NOT NULL,
    message TEXT,
    at      INTEGER NOT NULL
) STRICT;

CREATE INDEX tellings_id ON tellings (scope, id);
CREATE INDEX tellings_writer ON tellings (scope, writer);

CREATE TABLE slots (
    scope     INTEGER NOT NULL,
    id        TEXT NOT NULL,
    who       TEXT NOT NULL,
    attribute TEXT NOT NULL,
    thing     TEXT NOT NULL,
    PRIMARY KEY (scope, id, who, attribute)
) STRICT, WITHOUT ROWID;

CREATE INDEX slots_key ON slots (scope, who, attribute);
CREATE INDEX slots_thing ON slots (scope, thing);

CREATE TABLE slotted (
    scope INTEGER PRIMARY KEY,
    row   INTEGER NOT NULL
) STRICT;

CREATE TABLE heard (
    scope INTEGER NOT NULL,
    turn  BLOB NOT NULL,
    PRIMARY KEY (scope, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE held (
    scope INTEGER NOT NULL,
    id    TEXT NOT NULL,
    draft TEXT NOT NULL,
    why   TEXT NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
    scope  INTEGER PRIMARY KEY,
    policy TEXT NOT NULL
) STRICT;

CREATE TABLE jobs (
    job      INTEGER PRIMARY KEY AUTOINCREMENT,
    scope    INTEGER NOT NULL,
    id       TEXT NOT NULL,
    session  TEXT,
    work     TEXT NOT NULL,
    state    TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    trouble  TEXT
) STRICT;

CREATE UNIQUE INDEX jobs_id ON jobs (scope, id);
CREATE INDEX jobs_due ON jobs (due) WHERE state <> 'dead';
