-- Every key and every index begins with the tenant, then the scope; large tables lie in hash
-- partitions by tenant. Times are microseconds since 1970, UTC. Text is compared by its bytes.
-- `place` is a digest of a scope's name: it outlives the scope, and tells nothing.

CREATE SCHEMA holdfast;

CREATE TABLE holdfast.format (     -- one row: which migrations were done
    version integer NOT NULL
);

CREATE TABLE holdfast.spaces (     -- the embedders this store has vectors of
    space          integer PRIMARY KEY,
    name           text NOT NULL,
    version        text NOT NULL,
    dimension      integer NOT NULL,
    current        integer NOT NULL,      -- 1: recall uses it; 0: a re-embedding is filling it
    reached_tenant text COLLATE "C" NOT NULL,  -- re-embedding has done all rows up to this one
    reached_scope  bigint NOT NULL,
    reached_row    bigint NOT NULL
);

CREATE TABLE holdfast.scopes (     -- whoever writes to a scope holds the lock of its row
    tenant      text COLLATE "C" NOT NULL,
    scope       bigint NOT NULL,          -- made by chance: no sequence is shared
    name        text COLLATE "C" NOT NULL,
    last_row    bigint NOT NULL,          -- rows and changes are counted in each scope
    last_change bigint NOT NULL,
    PRIMARY KEY (tenant, scope)
);

CREATE UNIQUE INDEX scopes_name ON holdfast.scopes (tenant, name);

CREATE TABLE holdfast.retired (    -- so that no version of a state key comes again
    tenant  text COLLATE "C" NOT NULL,
    place   bytea NOT NULL,
    version bigint NOT NULL,              -- the highest of any deleted key
    PRIMARY KEY (tenant, place)
);

CREATE TABLE holdfast.memories (   -- one row per version; `until` is empty in the current one
    tenant        text COLLATE "C" NOT NULL,
    scope         bigint NOT NULL,
    row           bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    kind          text NOT NULL,
    pinned        integer NOT NULL,
    created_at    bigint NOT NULL,
    happened_at   bigint NOT NULL,
    expires_at    bigint,
    until         bigint,
    superseded_by text COLLATE "C",
    uses          bigint NOT NULL,
    last_used_at  bigint,
    session       text COLLATE "C",
    writer        text,
    role          text,
    message       text,
    speaker       text,                   -- who says it, by its source or its first words
    length        integer NOT NULL,       -- in terms
    fingerprint   bytea NOT NULL,
    avoid         integer NOT NULL,       -- 1: what failed or was ruled out
    facets        text[] NOT NULL,        -- tags and plain meta, as filters ask for them
    vectors       bytea,                  -- 16-bit floats, unit length, one vector per passage
    tags          text NOT NULL,          -- JSON list
    meta          text NOT NULL,          -- JSON object
    content       text NOT NULL,
    terms         text NOT NULL,          -- what the word index holds of it, in order
    PRIMARY KEY (tenant, scope, row)
) PARTITION BY HASH (tenant);

CREATE UNIQUE INDEX memories_id ON holdfast.memories (tenant, scope, id, version);
CREATE UNIQUE INDEX memories_twin ON holdfast.memories (tenant, scope, fingerprint)
    WHERE until IS NULL;
CREATE INDEX memories_session ON holdfast.memories (tenant, scope, session)
    WHERE session IS NOT NULL;
CREATE INDEX memories_expiry ON holdfast.memories (tenant, scope, expires_at)
    WHERE expires_at IS NOT NULL;
CREATE INDEX memories_waiting ON holdfast.memories (tenant, scope) WHERE vectors IS NULL;
CREATE INDEX memories_avoid ON holdfast.memories (tenant, scope) WHERE avoid = 1;
CREATE INDEX memories_superseded ON holdfast.memories (tenant, scope, superseded_by)
    WHERE superseded_by IS NOT NULL;

CREATE TABLE holdfast.coming (     -- vectors of the embedder that a re-embedding moves to
    tenant  text COLLATE "C" NOT NULL,
    scope   bigint NOT NULL,
    row     bigint NOT NULL,
    vectors bytea NOT NULL,
    PRIMARY KEY (tenant, scope, row)
) PARTITION BY HASH (tenant);

-- Holds the rows of a scope up to its last whole block; the terms of those beyond are read.
CREATE TABLE holdfast.words (
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    token  text COLLATE "C" NOT NULL,
    block  bigint NOT NULL,
    rows   bigint[] NOT NULL,
    PRIMARY KEY (tenant, scope, token, block)
) PARTITION BY HASH (tenant);

CREATE TABLE holdfast.changes (    -- rows that changed or went away: what is in memory follows it
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    seq    bigint NOT NULL,
    row    bigint NOT NULL,
    PRIMARY KEY (tenant, scope, seq)
) PARTITION BY HASH (tenant);

CREATE TABLE holdfast.states (
    tenant     text COLLATE "C" NOT NULL,
    scope      bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text NOT NULL,             -- JSON
    version    bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (tenant, scope, key)
) PARTITION BY HASH (tenant);

CREATE TABLE holdfast.answers (    -- what was answered to writes with an idempotency key
    tenant text COLLATE "C" NOT NULL,
    place  bytea NOT NULL,
    key    bytea NOT NULL,                -- digest of the idempotency key
    digest bytea NOT NULL,                -- of the call
    about  bytea,                         -- digest of what the answer holds the words or value of
    answer text,                          -- JSON; empty once what it told of was forgotten
    at     bigint NOT NULL,
    PRIMARY KEY (tenant, place, key)
) PARTITION BY HASH (tenant);

CREATE INDEX answers_about ON holdfast.answers (tenant, place, about) WHERE about IS NOT NULL;

CREATE TABLE holdfast.links (      -- between memories: from (a source), conflict, outdated (by)
    tenant   text COLLATE "C" NOT NULL,
    scope    bigint NOT NULL,
    id       text COLLATE "C" NOT NULL,
    relation text COLLATE "C" NOT NULL,
    other    text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, scope, id, relation, other)
) PARTITION BY HASH (tenant);

CREATE INDEX links_other ON holdfast.links (tenant, scope, other, relation);

CREATE TABLE holdfast.tellings (   -- who else told a memory, after the first
    tenant  text COLLATE "C" NOT NULL,
    scope   bigint NOT NULL,
    id      text COLLATE "C" NOT NULL,
    nth     bigint NOT NULL,
    writer  text COLLATE "C" NOT NULL,
    role    text NOT NULL,
    message text,
    at      bigint NOT NULL,
    PRIMARY KEY (tenant, scope, id, nth)
) PARTITION BY HASH (tenant);

CREATE INDEX tellings_writer ON holdfast.tellings (tenant, scope, writer);

CREATE TABLE holdfast.slots (      -- what a memory says of whom, as digests: an index of its words
    tenant    text COLLATE "C" NOT NULL,
    scope     bigint NOT NULL,
    id        text COLLATE "C" NOT NULL,
    who       bytea NOT NULL,
    attribute bytea NOT NULL,
    thing     bytea NOT NULL,
    PRIMARY KEY (tenant, scope, id, who, attribute)
) PARTITION BY HASH (tenant);

CREATE INDEX slots_key ON holdfast.slots (tenant, scope, who, attribute);
CREATE INDEX slots_thing ON holdfast.slots (tenant, scope, thing);

CREATE TABLE holdfast.slotted (    -- up to which row slots were read: they are, when first needed
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    row    bigint NOT NULL,
    PRIMARY KEY (tenant, scope)
);

CREATE TABLE holdfast.heard (      -- turns that were learned from: none is learned from twice
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    turn   bytea NOT NULL,                -- digest of session, speaker and words
    PRIMARY KEY (tenant, scope, turn)
) PARTITION BY HASH (tenant);

CREATE TABLE holdfast.held (       -- in quarantine: no memories, but what may become some
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    id     text COLLATE "C" NOT NULL,
    draft  text NOT NULL,                 -- JSON
    why    text NOT NULL,                 -- JSON list
    at     bigint NOT NULL,
    PRIMARY KEY (tenant, scope, id)
);

CREATE TABLE holdfast.policies (
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    policy text NOT NULL,                 -- JSON
    PRIMARY KEY (tenant, scope)
);

CREATE TABLE holdfast.jobs (       -- accepted, not done yet; a job and what it writes end together
    tenant   text COLLATE "C" NOT NULL,
    scope    bigint NOT NULL,
    id       text COLLATE "C" NOT NULL,
    job      bigint NOT NULL,             -- the order in which a scope accepted them
    session  text,
    work     text NOT NULL,               -- JSON
    state    text NOT NULL,               -- waiting, running, dead
    attempts integer NOT NULL,
    due      bigint NOT NULL,             -- when to begin; while it runs, when to take it for lost
    at       bigint NOT NULL,
    trouble  text,
    PRIMARY KEY (tenant, scope, id)
);

-- What a server keeps beside memories.

CREATE TABLE holdfast.keys (       -- API keys; the secret itself is nowhere
    id           text COLLATE "C" PRIMARY KEY,  -- the public part: it is what tells the tenant
    tenant       text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    digest       bytea NOT NULL,          -- SHA-256 of the secret part
    rights       text NOT NULL,           -- of read, write and admin, with blanks between them
    prefix       text NOT NULL,           -- of the scopes it opens; empty for all of the tenant's
    created_at   bigint NOT NULL,
    expires_at   bigint,
    revoked_at   bigint,
    last_used_at bigint
);

CREATE UNIQUE INDEX keys_name ON holdfast.keys (tenant, name) WHERE revoked_at IS NULL;

CREATE TABLE holdfast.audit (      -- who did what and when; never with content
    tenant  text COLLATE "C" NOT NULL,
    -- Microseconds and some chance: in order, and no sequence is shared.
    seq     bigint NOT NULL DEFAULT
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1024 + floor(random() * 1024)::bigint,
    at      bigint NOT NULL,
    key     text,                         -- id of the key; empty for the open door of a local server
    act     text NOT NULL,
    scope   text,
    subject text,                         -- id of the memory or of the key it was done to
    request text,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);

CREATE TABLE holdfast.errands (    -- work that was accepted and is done later
    tenant     text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    task       text,                      -- JSON; empty once it is done
    status     text NOT NULL,             -- accepted, complete or failed
    result     text,                      -- JSON
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE INDEX errands_open ON holdfast.errands (tenant, updated_at) WHERE status = 'accepted';
CREATE INDEX errands_place ON holdfast.errands (tenant, scope);

CREATE TABLE holdfast.days (       -- writes of a tenant, by days since 1970
    tenant text COLLATE "C" NOT NULL,
    day    bigint NOT NULL,
    lane   integer NOT NULL,              -- several, so that writers of a tenant do not wait here
    writes bigint NOT NULL,
    PRIMARY KEY (tenant, day, lane)
);

-- Partitions, and the second wall: a transaction sees the tenant it was opened for, and no other.
DO $$
DECLARE
    large text;
    owned text;
BEGIN
    FOR large IN SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'holdfast' AND c.relkind = 'p'
    LOOP
        FOR part IN 0..7 LOOP
            EXECUTE format(
                'CREATE TABLE holdfast.%I PARTITION OF holdfast.%I'
                ' FOR VALUES WITH (MODULUS 8, REMAINDER %s)', large || '_' || part, large, part);
        END LOOP;
    END LOOP;
    FOR owned IN SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
        WHERE n.nspname = 'holdfast' AND c.relkind IN ('r', 'p')
    LOOP
        EXECUTE format('ALTER TABLE holdfast.%I ENABLE ROW LEVEL SECURITY', owned);
        EXECUTE format('ALTER TABLE holdfast.%I FORCE ROW LEVEL SECURITY', owned);
        EXECUTE format(
            'CREATE POLICY tenant ON holdfast.%I USING ('
            'tenant = (SELECT current_setting(''holdfast.tenant'', true))'
            ' OR (SELECT current_setting(''holdfast.tenant'', true)) = '' *'')', owned);
    END LOOP;
END $$;
