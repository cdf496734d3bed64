-- The first schema.

CREATE TABLE spaces (          -- the embedders this store has vectors of
    space     INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL,
    version   TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    current   INTEGER NOT NULL,  -- 1: recall uses it; 0: a re-embedding is filling it
    reached   INTEGER NOT NULL   -- re-embedding has done all rows up to this one
) STRICT;

CREATE TABLE scopes (
    scope   INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  TEXT NOT NULL,
    name    TEXT NOT NULL,
    UNIQUE (tenant, name)
) STRICT;

CREATE TABLE retired (         -- outlives its scope, so that no version of a key comes again
    place   BLOB PRIMARY KEY,      -- digest of tenant and scope
    version INTEGER NOT NULL       -- the highest of any deleted state key
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (        -- one row per version; `until` is empty in the current one
    row           INTEGER PRIMARY KEY AUTOINCREMENT,
    scope         INTEGER NOT NULL,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    pinned        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    happened_at   INTEGER NOT NULL,
    expires_at    INTEGER,
    until         INTEGER,
    superseded_by TEXT,
    uses          INTEGER NOT NULL,
    last_used_at  INTEGER,
    session       TEXT,
    writer        TEXT,
    role          TEXT,
    message       TEXT,
    speaker       TEXT,              -- who says it, by its source or its first words
    length        INTEGER NOT NULL,  -- in terms
    fingerprint   BLOB NOT NULL,
    -- The large ones stand last: SQLite reads a row from its front.
    vectors       BLOB,              -- 16-bit floats, unit length, one vector per passage
    tags          TEXT NOT NULL,     -- JSON list
    meta          TEXT NOT NULL,     -- JSON object
    content       TEXT NOT NULL,
    terms         TEXT NOT NULL      -- what the word index holds of it, in order
) STRICT;

CREATE INDEX memories_scope ON memories (scope);
CREATE UNIQUE INDEX memories_id ON memories (scope, id, version);
CREATE UNIQUE INDEX memories_twin ON memories (scope, fingerprint) WHERE until IS NULL;
CREATE INDEX memories_session ON memories (scope, session) WHERE session IS NOT NULL;
CREATE INDEX memories_expiry ON memories (scope, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_past ON memories (scope, until) WHERE until IS NOT NULL;
CREATE INDEX memories_waiting ON memories (scope) WHERE vectors IS NULL;

CREATE TABLE coming (          -- vectors of the embedder that a re-embedding moves to
    row     INTEGER PRIMARY KEY,
    vectors BLOB NOT NULL
) STRICT;

-- Holds the rows up to the last whole batch of 64; the terms of those beyond are read from them.
-- Tokens are '<scope>:<term>', so that one look-up is one scope's list of one term;
-- '<scope>:<term>²' lists the rows that have it twice or more ('⁴', '⁸': so often or more).
CREATE VIRTUAL TABLE words USING fts5 (
    terms, content = '', columnsize = 0, detail = none,
    tokenize = "ascii tokenchars ':._-/@+#'"
);

CREATE TABLE changes (         -- rows that changed or went away: what is in memory follows this
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    row   INTEGER NOT NULL
) STRICT;

CREATE INDEX changes_scope ON changes (scope);

CREATE TABLE states (
    scope      INTEGER NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,      -- JSON
    version    INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (         -- what was answered to writes with an idempotency key
    key    BLOB PRIMARY KEY,       -- digest of tenant, scope and idempotency key
    digest BLOB NOT NULL,          -- of the call
    scope  INTEGER NOT NULL,
    about  BLOB,                   -- digest of what the answer holds the words or value of
    answer TEXT,                   -- JSON; empty once what it told of was forgotten
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_about ON answers (scope, about) WHERE about IS NOT NULL;
