-- What a server keeps beside memories: who may come in, what was done, what is still to do.

CREATE TABLE keys (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    name         TEXT NOT NULL,
    digest       BLOB NOT NULL,
    rights       TEXT NOT NULL,
    prefix       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX keys_name ON keys (tenant, name) WHERE revoked_at IS NULL;

CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    key     TEXT,
    act     TEXT NOT NULL,
    scope   TEXT,
    subject TEXT,
    request TEXT
) STRICT;

CREATE INDEX audit_tenant ON audit (tenant, seq);

CREATE TABLE errands (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    task       TEXT,
    status     TEXT NOT NULL,
    result     TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX errands_open ON errands (updated_at) WHERE status = 'accepted';
CREATE INDEX errands_place ON errands (tenant, scope);

CREATE TABLE days (
    tenant TEXT NOT NULL,
    day    INTEGER NOT NULL,
    writes INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) STRICT, WITHOUT ROWID;
