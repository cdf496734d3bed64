-- The table of one large scope: `near_n` stands for its name, and it holds no other scope's rows.
-- `:seen` stands for what is in sight, by the columns of `memories`: outside of the look at their
-- key, so that no plan comes upon another index that a part of it would do for; `:held` for what
-- an index in memory would hold of a row.

-- name: make
-- In a block, for psycopg lets go of prepared statements when it sees a table come or go.
-- The policy is asked once: all rows are of one tenant, which a digest stands for.
-- Whoever may read, write or rewrite the memories may do the same here, whichever role makes it.
DO $$
DECLARE
    granted record;
BEGIN
DROP TABLE IF EXISTS holdfast.near_n;
CREATE TABLE holdfast.near_n (
    row      bigint NOT NULL,
    nth      integer NOT NULL,         -- which passage of a long content
    vector   halfvec(:dimension),      -- empty while the row waits for it
    marks    text[] NOT NULL,          -- the row's, as they are in `marks`
    happened bigint NOT NULL,
    PRIMARY KEY (row, nth)
);
CREATE INDEX near_n_happened ON holdfast.near_n (happened);
ALTER TABLE holdfast.near_n ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY,
    ALTER COLUMN marks SET STATISTICS 0, ALTER COLUMN vector SET STATISTICS 0;
CREATE POLICY tenant ON holdfast.near_n USING ((
    SELECT encode(sha256(convert_to(t, 'utf8')), 'hex') = ':tenant' OR t = ' *'
    FROM current_setting('holdfast.tenant', true) AS t
));
FOR granted IN
    SELECT privilege_type AS what,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS who
    FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
    WHERE oid = 'holdfast.memories'::regclass
        AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MAINTAIN')
LOOP
    EXECUTE format('GRANT %s ON holdfast.near_n TO %s', granted.what, granted.who);
END LOOP;
END $$

-- name: make_graph
CREATE INDEX CONCURRENTLY IF NOT EXISTS near_n_vector ON holdfast.near_n
    USING hnsw (vector halfvec_ip_ops)

-- name: drop_graph
DROP INDEX CONCURRENTLY IF EXISTS holdfast.near_n_vector

-- name: drop
-- Or only what is in it, where it is another role's; that role's `purge` removes it.
DO $$ BEGIN
DROP TABLE IF EXISTS holdfast.near_n;
EXCEPTION WHEN insufficient_privilege THEN
    DELETE FROM holdfast.near_n;
END $$

-- name: keep
-- Values: rows, passages, vectors and marks as text, times.
INSERT INTO holdfast.near_n AS n (row, nth, vector, marks, happened)
SELECT u.row, u.nth, u.vector::halfvec, u.marks::text[], u.happened
FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::bigint[])
    AS u (row, nth, vector, marks, happened)
ON CONFLICT (row, nth) DO UPDATE
    SET vector = excluded.vector, marks = excluded.marks, happened = excluded.happened
    WHERE (n.vector, n.marks, n.happened)
        IS DISTINCT FROM (excluded.vector, excluded.marks, excluded.happened)

-- name: let_go
-- What is there of some rows and should not be. Values: the rows; rows and passages to keep.
DELETE FROM holdfast.near_n n WHERE row = ANY($1::bigint[]) AND NOT EXISTS
    (SELECT 1 FROM unnest($2::bigint[], $3::integer[]) AS u (row, nth)
        WHERE u.row = n.row AND u.nth = n.nth)

-- name: nearest
-- By the graph, on and on until enough are in sight. Values: tenant, scope, the query's vector.
SELECT :held FROM (
    SELECT row FROM holdfast.near_n ORDER BY vector <#> $3::halfvec
) AS n CROSS JOIN LATERAL (
    SELECT * FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = n.row LIMIT 1
) AS m WHERE :seen LIMIT :most

-- name: nearest_of
-- Each of some rows is compared. Values: tenant, scope, the query's vector, rows.
SELECT :held FROM (
    SELECT row, min(vector <#> $3::halfvec) AS far FROM holdfast.near_n
    WHERE vector IS NOT NULL AND row = ANY($4::bigint[]) GROUP BY row ORDER BY 2
) AS n CROSS JOIN LATERAL (
    SELECT * FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = n.row LIMIT 1
) AS m WHERE :seen LIMIT :most

-- name: between
-- Some rows of a time. Values: from, to, how many.
SELECT coalesce(substr(array_send(array_agg(row ORDER BY row)), 21), '') FROM (
    SELECT DISTINCT row FROM (
        SELECT row FROM holdfast.near_n WHERE happened >= $1 AND happened < $2 LIMIT $3
    ) AS m
) AS n

-- name: marked
-- The marks of some rows, as they are now.
SELECT row, marks FROM holdfast.near_n WHERE row = ANY($1::bigint[]) AND nth = 0

-- name: lacking
-- How many rows it lacks or should not have, or whose vectors are not all there.
-- Values: tenant, scope, bytes of a vector.
SELECT count(*) FROM (
    SELECT row, coalesce(octet_length(vectors) / $3, 0) AS vectors FROM holdfast.memories
    WHERE tenant = $1 AND scope = $2
) AS m FULL JOIN (SELECT row, count(vector) AS vectors FROM holdfast.near_n GROUP BY row) AS n
USING (row) WHERE m.vectors IS DISTINCT FROM n.vectors

-- name: rows
-- Some rows. Values: tenant, scope, the rows.
SELECT :held
FROM unnest($3::bigint[]) AS u (nth) CROSS JOIN LATERAL (
    SELECT * FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = u.nth LIMIT 1
) AS m WHERE :seen
