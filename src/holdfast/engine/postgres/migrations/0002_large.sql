-- A large scope is searched in the database (engine/postgres/near.py). Each scope knows how much
-- it holds, since nobody can count a million rows for every question.

SELECT set_config('holdfast.tenant', ' *', true);

ALTER TABLE holdfast.scopes
    ADD COLUMN held  bigint NOT NULL DEFAULT 0,    -- rows of memories,
    ADD COLUMN terms bigint NOT NULL DEFAULT 0,    -- and the terms of all of them
    ADD COLUMN near  integer NOT NULL DEFAULT 0;   -- 1: its own table of vectors is being filled
                                                   -- 2: and is searched
UPDATE holdfast.scopes s SET held = m.held, terms = m.terms
FROM (SELECT tenant, scope, count(*) AS held, sum(length) AS terms FROM holdfast.memories
    GROUP BY tenant, scope) AS m
WHERE m.tenant = s.tenant AND m.scope = s.scope;

-- With the row, so that the turns before and after one are found.
DROP INDEX holdfast.memories_session;
CREATE INDEX memories_session ON holdfast.memories (tenant, scope, session, row)
    WHERE session IS NOT NULL;

-- What filters ask for, of large scopes only: an index on `facets` would not begin with the tenant,
-- and row-level security would keep it from being used.
CREATE TABLE holdfast.marks (
    tenant text COLLATE "C" NOT NULL,
    scope  bigint NOT NULL,
    mark   text COLLATE "C" NOT NULL,
    row    bigint NOT NULL,
    PRIMARY KEY (tenant, scope, mark, row)
) PARTITION BY HASH (tenant);

DO $$ BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format('CREATE TABLE holdfast.%I PARTITION OF holdfast.marks'
            ' FOR VALUES WITH (MODULUS 8, REMAINDER %s)', 'marks_' || part, part);
        EXECUTE format('ALTER TABLE holdfast.%I ENABLE ROW LEVEL SECURITY', 'marks_' || part);
        EXECUTE format('ALTER TABLE holdfast.%I FORCE ROW LEVEL SECURITY', 'marks_' || part);
        EXECUTE format('CREATE POLICY tenant ON holdfast.%I USING ('
            'tenant = (SELECT current_setting(''holdfast.tenant'', true))'
            ' OR (SELECT current_setting(''holdfast.tenant'', true)) = '' *'')', 'marks_' || part);
    END LOOP;
END $$;
ALTER TABLE holdfast.marks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON holdfast.marks USING (
    tenant = (SELECT current_setting('holdfast.tenant', true))
    OR (SELECT current_setting('holdfast.tenant', true)) = ' *');

-- What the planner notes of a column are values of it, which would outlive those who forgot them.
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT c.relname, a.attname FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'holdfast'
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'tenant'
            AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'text[]'::regtype)
    LOOP
        EXECUTE format('ALTER TABLE ONLY holdfast.%I ALTER COLUMN %I SET STATISTICS 0',
            found.relname, found.attname);
    END LOOP;
END $$;
