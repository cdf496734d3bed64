-- The whole schema of a store, as the migrations leave it (a test compares the two).
-- Every time is in microseconds since 1970, UTC. Every table but the first two is keyed by scope.

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
    -- 1: what failed or was ruled out; and the id of the key that it came by. Added by later
    -- formats: that is why they stand here.
    , avoid       INTEGER NOT NULL DEFAULT 0, via TEXT) STRICT;

CREATE INDEX memories_scope ON memories (scope);
CREATE UNIQUE INDEX memories_id ON memories (scope, id, version);
CREATE UNIQUE INDEX memories_twin ON memories (scope, fingerprint) WHERE until IS NULL;
CREATE INDEX memories_session ON memories (scope, session) WHERE session IS NOT NULL;
CREATE INDEX memories_expiry ON memories (scope, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_past ON memories (scope, until) WHERE until IS NOT NULL;
CREATE INDEX memories_waiting ON memories (scope) WHERE vectors IS NULL;
CREATE INDEX memories_avoid ON memories (scope) WHERE avoid = 1;
CREATE INDEX memories_superseded ON memories (scope, superseded_by) WHERE superseded_by IS NOT NULL;

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

CREATE TABLE links (           -- between memories: from (a source), conflict, outdated (by)
    scope    INTEGER NOT NULL,
    id       TEXT NOT NULL,
    relation TEXT NOT NULL,
    other    TEXT NOT NULL,
    PRIMARY KEY (scope, id, relation, other)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_other ON links (scope, other, relation);

CREATE TABLE tellings (        -- who else told a memory, after the first
    scope   INTEGER NOT NULL,
    id      TEXT NOT NULL,
    writer  TEXT NOT NULL,
    role    TEXT NOT NULL,
    message TEXT,
    at      INTEGER NOT NULL
    -- the id of the key that it came by
    , via TEXT) STRICT;

CREATE INDEX tellings_id ON tellings (scope, id);
CREATE INDEX tellings_writer ON tellings (scope, writer);

CREATE TABLE slots (           -- what a memory says of whom; an index, made of its words
    scope     INTEGER NOT NULL,
    id        TEXT NOT NULL,
    who       TEXT NOT NULL,
    attribute TEXT NOT NULL,
    thing     TEXT NOT NULL,
    PRIMARY KEY (scope, id, who, attribute)
) STRICT, WITHOUT ROWID;

CREATE INDEX slots_key ON slots (scope, who, attribute);
CREATE INDEX slots_thing ON slots (scope, thing);

CREATE TABLE slotted (         -- up to which row slots were read: they are, when first needed
    scope INTEGER PRIMARY KEY,
    row   INTEGER NOT NULL
) STRICT;

CREATE TABLE heard (           -- turns that were learned from: none is learned from twice
    scope INTEGER NOT NULL,
    turn  BLOB NOT NULL,           -- digest of session, speaker and words
    PRIMARY KEY (scope, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE held (            -- in quarantine: no memories, but what may become some
    scope INTEGER NOT NULL,
    id    TEXT NOT NULL,
    draft TEXT NOT NULL,           -- JSON
    why   TEXT NOT NULL,           -- JSON list
    at    INTEGER NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
    scope  INTEGER PRIMARY KEY,
    policy TEXT NOT NULL           -- JSON
) STRICT;

CREATE TABLE jobs (            -- accepted, not done yet; a job and what it writes end together
    job      INTEGER PRIMARY KEY AUTOINCREMENT,
    scope    INTEGER NOT NULL,
    id       TEXT NOT NULL,
    session  TEXT,
    work     TEXT NOT NULL,        -- JSON
    state    TEXT NOT NULL,        -- waiting, running, dead
    attempts INTEGER NOT NULL,
    due      INTEGER NOT NULL,     -- when to begin; while it runs, when to take it for lost
    at       INTEGER NOT NULL,
    trouble  TEXT
) STRICT;

CREATE UNIQUE INDEX jobs_id ON jobs (scope, id);
CREATE INDEX jobs_due ON jobs (due) WHERE state <> 'dead';
-- What a server keeps beside memories; every table is keyed by tenant.

CREATE TABLE keys (            -- API keys; the secret itself is nowhere
    id           TEXT PRIMARY KEY,   -- the public part of the key
    tenant       TEXT NOT NULL,
    name         TEXT NOT NULL,
    digest       BLOB NOT NULL,      -- SHA-256 of the secret part
    rights       TEXT NOT NULL,      -- of read, write and admin, with blanks between them
    prefix       TEXT NOT NULL,      -- of the scopes it opens; empty for all of the tenant's
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
    -- the class of writers that it speaks for
    , role TEXT NOT NULL DEFAULT 'user') STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX keys_name ON keys (tenant, name) WHERE revoked_at IS NULL;

CREATE TABLE audit (           -- who did what and when; never with content
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    key     TEXT,              -- id of the key; empty for the open door of a local server
    act     TEXT NOT NULL,
    scope   TEXT,
    subject TEXT,              -- id of the memory or of the key it was done to
    request TEXT
) STRICT;

CREATE INDEX audit_tenant ON audit (tenant, seq);

CREATE TABLE errands (            -- work that was accepted and is done later
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    task       TEXT,           -- JSON; empty once it is done
    status     TEXT NOT NULL,  -- accepted, complete or failed
    result     TEXT,           -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX errands_open ON errands (updated_at) WHERE status = 'accepted';
CREATE INDEX errands_place ON errands (tenant, scope);

CREATE TABLE days (            -- writes of a tenant, by days since 1970
    tenant TEXT NOT NULL,
    day    INTEGER NOT NULL,
    writes INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) STRICT, WITHOUT ROWID;
