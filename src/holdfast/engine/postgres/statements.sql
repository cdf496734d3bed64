-- `SELECT record` stands for the columns that make a record (engine/statements.py).
-- The first two values are the tenant and the scope, unless a comment says otherwise.

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: begin_write
-- Who writes to a scope locks its row first, and then sees all that is committed.
BEGIN ISOLATION LEVEL READ COMMITTED

-- name: set_tenant
-- For this transaction alone. A plan is made once for all values: to plan for eight partitions
-- takes longer than to pass seven of them over. Values: the tenant.
SELECT set_config('holdfast.tenant', $1, true),
    set_config('plan_cache_mode', 'force_generic_plan', true)

-- name: seek
-- By a graph, on and on until enough are found; a plan that sorts all must not be made.
-- Values: how many to look at first; whether plans may sort.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.ef_search', $1, true),
    set_config('enable_sort', $2, true), set_config('enable_seqscan', $2, true),
    set_config('jit', 'off', true)

-- name: any_halfvec
SELECT to_regtype('halfvec') IS NOT NULL

-- name: see_scope
-- Values: tenant, name. All that a reader needs to know, in one go.
SELECT s.scope, s.last_row, s.last_change, c.space, c.name, c.version, c.dimension,
    s.held, s.terms, s.near,
    (SELECT count(*) FROM holdfast.memories m
        WHERE m.tenant = $1 AND m.scope = s.scope AND m.vectors IS NULL) AS waiting,
    EXISTS (SELECT 1 FROM holdfast.memories m
        WHERE m.tenant = $1 AND m.scope = s.scope AND m.avoid = 1) AS avoids,
    EXISTS (SELECT 1 FROM holdfast.links l
        WHERE l.tenant = $1 AND l.scope = s.scope) AS links
FROM holdfast.scopes s LEFT JOIN holdfast.spaces c ON c.current = 1
WHERE s.tenant = $1 AND s.name = $2

-- name: lock_scope
-- With the embedder, which cannot change while any scope is locked. Values: tenant, name.
SELECT s.scope, s.last_row, s.last_change, s.held, s.terms, s.near,
    c.space, c.name, c.version, c.dimension
FROM holdfast.scopes s LEFT JOIN holdfast.spaces c ON c.current = 1
WHERE s.tenant = $1 AND s.name = $2 FOR UPDATE OF s

-- name: lock_number
SELECT scope, last_row, last_change, held, terms, near, name FROM holdfast.scopes
WHERE tenant = $1 AND scope = $2 FOR UPDATE

-- name: lock_number_now
SELECT scope, last_row, last_change, held, terms, near, name FROM holdfast.scopes
WHERE tenant = $1 AND scope = $2 FOR UPDATE SKIP LOCKED

-- name: is_scope
SELECT 1 FROM holdfast.scopes WHERE tenant = $1 AND scope = $2

-- name: every_scope
SELECT tenant, scope, name, last_row FROM holdfast.scopes ORDER BY tenant, scope

-- name: every_scope_counted
SELECT s.tenant, s.name, (SELECT count(*) FROM holdfast.memories m
    WHERE m.tenant = s.tenant AND m.scope = s.scope) FROM holdfast.scopes s ORDER BY tenant, name

-- name: every_scope_sized
-- What each scope says it holds, and what it does hold.
SELECT s.tenant, s.scope, s.near, s.held, s.terms, m.held AS rows, m.terms AS length
FROM holdfast.scopes s CROSS JOIN LATERAL (
    SELECT count(*) AS held, coalesce(sum(length), 0)::bigint AS terms FROM holdfast.memories
    WHERE tenant = s.tenant AND scope = s.scope
) AS m ORDER BY s.tenant, s.scope

-- name: add_scope
-- Gives nothing if somebody else has just made it. Values: tenant, scope, name.
INSERT INTO holdfast.scopes (tenant, scope, name, last_row, last_change) VALUES ($1, $2, $3, 0, 0)
ON CONFLICT DO NOTHING RETURNING scope

-- name: reach_scope
UPDATE holdfast.scopes SET last_row = $3, last_change = $4, held = $5, terms = $6
WHERE tenant = $1 AND scope = $2

-- name: set_near
UPDATE holdfast.scopes SET near = $3 WHERE tenant = $1 AND scope = $2

-- name: near_scopes
-- Those with a table of their own, and how far it is.
SELECT tenant, scope, near FROM holdfast.scopes WHERE near > 0

-- name: left_over
-- The numbers of tables whose scope is gone, or has none.
SELECT number FROM (
    SELECT substr(relname, 6)::bigint AS number FROM pg_class
    WHERE relnamespace = 'holdfast'::regnamespace AND relkind = 'r' AND relname ~ '^near_[0-9]+$'
) AS c WHERE NOT EXISTS (SELECT 1 FROM holdfast.scopes WHERE scope = number AND near > 0)

-- name: drop_scope
DELETE FROM holdfast.scopes WHERE tenant = $1 AND scope = $2

-- name: empty_scopes
SELECT tenant, scope FROM holdfast.scopes s WHERE
    NOT EXISTS (SELECT 1 FROM holdfast.memories m WHERE m.tenant = s.tenant AND m.scope = s.scope)
    AND NOT EXISTS (SELECT 1 FROM holdfast.states t WHERE t.tenant = s.tenant AND t.scope = s.scope)
    AND NOT EXISTS (SELECT 1 FROM holdfast.jobs j WHERE j.tenant = s.tenant AND j.scope = s.scope)
    AND NOT EXISTS (SELECT 1 FROM holdfast.held h WHERE h.tenant = s.tenant AND h.scope = s.scope)
    AND NOT EXISTS
        (SELECT 1 FROM holdfast.policies p WHERE p.tenant = s.tenant AND p.scope = s.scope)

-- name: retire
-- Values: tenant, place, version.
INSERT INTO holdfast.retired AS r (tenant, place, version) VALUES ($1, $2, $3)
ON CONFLICT (tenant, place) DO UPDATE SET version = greatest(r.version, excluded.version)

-- name: retired
-- Values: tenant, place.
SELECT version FROM holdfast.retired WHERE tenant = $1 AND place = $2

-- name: any_lost
-- Whether anything was moved in of places that were gone already.
SELECT (EXISTS (SELECT 1 FROM holdfast.retired WHERE tenant = ' *')
    OR EXISTS (SELECT 1 FROM holdfast.answers WHERE tenant = ' *'))::integer

-- name: lost_version
-- Values: place.
SELECT version FROM holdfast.retired WHERE tenant = ' *' AND place = $1

-- name: lost_answer
-- Values: place, key.
SELECT digest, answer FROM holdfast.answers WHERE tenant = ' *' AND place = $1 AND key = $2

-- name: add_memory
INSERT INTO holdfast.memories (
    tenant, scope, row, id, version, facets, vectors, speaker, length, fingerprint, content, terms,
    kind, tags, meta, session, writer, role, message, pinned, created_at, happened_at, expires_at,
    until, superseded_by, uses, last_used_at, avoid, via
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
    $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)

-- name: change_memory
-- Everything but the words and what is indexed by them.
UPDATE holdfast.memories SET kind = $5, tags = $6, meta = $7, session = $8, writer = $9, role = $10,
    message = $11, pinned = $12, created_at = $13, happened_at = $14, expires_at = $15, until = $16,
    superseded_by = $17, uses = $18, last_used_at = $19, avoid = $20, via = $21,
    facets = $22
WHERE tenant = $1 AND scope = $2 AND id = $3 AND version = $4 RETURNING row

-- name: share_expiry
-- Every version of a memory lives as long as its last one.
UPDATE holdfast.memories SET expires_at = $4
WHERE tenant = $1 AND scope = $2 AND id = $3 AND expires_at IS DISTINCT FROM $4::bigint
RETURNING row

-- name: row_of
SELECT row, terms, vectors, speaker, length, fingerprint, content, terms FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND id = $3 AND version = $4

-- name: new_words
UPDATE holdfast.memories SET version = $4, vectors = $5, speaker = $6, length = $7,
    fingerprint = $8, content = $9, terms = $10
WHERE tenant = $1 AND scope = $2 AND row = $3

-- name: versions
SELECT record FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND id = $3 ORDER BY version

-- name: memories
-- One look at the key for each: there are few, and a plan must not think otherwise.
SELECT m.* FROM unnest($3::bigint[]) AS u (nth) CROSS JOIN LATERAL (
    SELECT record FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = u.nth LIMIT 1
) AS m

-- name: twin
SELECT record FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND fingerprint = $3 AND until IS NULL

-- name: dump
SELECT record FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row > $3
    AND (expires_at IS NULL OR expires_at > $4) ORDER BY row LIMIT $5

-- name: count_all
SELECT count(*) FROM holdfast.memories WHERE tenant = $1 AND scope = $2

-- name: drop_memory
DELETE FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND id = $3
RETURNING row, terms, length

-- name: use_memories
-- Values after the scope: rows, how often each was used, when last.
UPDATE holdfast.memories m
SET uses = m.uses + u.times, last_used_at = greatest(coalesce(m.last_used_at, 0), u.at)
FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS u (row, times, at)
WHERE m.tenant = $1 AND m.scope = $2 AND m.row = u.row RETURNING m.row

-- name: add_words
-- Values after the scope: block, tokens, and for each a list of rows as text.
INSERT INTO holdfast.words AS w (tenant, scope, token, block, rows)
SELECT $1, $2, u.token, $3, u.rows::bigint[] FROM unnest($4::text[], $5::text[]) AS u (token, rows)
ON CONFLICT (tenant, scope, token, block) DO UPDATE SET rows =
    (SELECT array_agg(DISTINCT r ORDER BY r) FROM unnest(w.rows || excluded.rows) AS r)

-- name: remove_words
-- Values after the scope: block, tokens, the row.
UPDATE holdfast.words SET rows = array_remove(rows, $5::bigint)
WHERE tenant = $1 AND scope = $2 AND block = $3 AND token = ANY($4::text[])

-- name: drop_words
-- Those that no row has any more. Values after the scope: block, tokens.
DELETE FROM holdfast.words WHERE tenant = $1 AND scope = $2 AND block = $3
    AND token = ANY($4::text[]) AND rows = '{}'

-- name: drop_all_words
DELETE FROM holdfast.words WHERE tenant = $1 AND scope = $2

-- name: all_words
SELECT token, rows FROM holdfast.words WHERE tenant = $1 AND scope = $2

-- name: find_words
-- Each list as the server sends arrays, whole, but for the 20 bytes before their first element.
SELECT token, string_agg(substr(array_send(rows), 21), ''::bytea ORDER BY block)
FROM holdfast.words WHERE tenant = $1 AND scope = $2 AND token = ANY($3::text[]) GROUP BY token

-- name: current_space
SELECT space, name, version, dimension FROM holdfast.spaces WHERE current = 1

-- name: coming_space
SELECT space, name, version, dimension, reached_tenant, reached_scope, reached_row
FROM holdfast.spaces WHERE current = 0

-- name: lock_spaces
LOCK TABLE holdfast.spaces IN SHARE ROW EXCLUSIVE MODE

-- name: lock_scopes
LOCK TABLE holdfast.scopes IN EXCLUSIVE MODE

-- name: add_space
-- Values: name, version, dimension, whether it is the current one.
INSERT INTO holdfast.spaces
    (space, name, version, dimension, current, reached_tenant, reached_scope, reached_row)
SELECT coalesce(max(space), 0) + 1, $1, $2, $3, $4, '', 0, 0 FROM holdfast.spaces

-- name: reach_space
-- Values: tenant, scope, row, space.
UPDATE holdfast.spaces SET reached_tenant = $1, reached_scope = $2, reached_row = $3
WHERE space = $4

-- name: drop_space
DELETE FROM holdfast.spaces WHERE space = $1

-- name: switch_space
UPDATE holdfast.spaces SET current = 1 WHERE space = $1

-- name: put_vectors
-- Only where there are none: the row may have got some, or be gone, meanwhile.
UPDATE holdfast.memories SET vectors = $4
WHERE tenant = $1 AND scope = $2 AND row = $3 AND vectors IS NULL RETURNING row

-- name: put_coming
INSERT INTO holdfast.coming (tenant, scope, row, vectors)
SELECT tenant, scope, row, $4 FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND row = $3
ON CONFLICT (tenant, scope, row) DO UPDATE SET vectors = excluded.vectors

-- name: move_coming
-- Values after the scope: the row, and the one it becomes.
UPDATE holdfast.coming SET row = $4 WHERE tenant = $1 AND scope = $2 AND row = $3

-- name: drop_coming
DELETE FROM holdfast.coming WHERE tenant = $1 AND scope = $2 AND row = ANY($3::bigint[])

-- name: drop_all_coming
DELETE FROM holdfast.coming

-- name: take_coming
-- A row that has none, because it was revised meanwhile, waits for its vectors.
UPDATE holdfast.memories m SET vectors =
    (SELECT c.vectors FROM holdfast.coming c
        WHERE c.tenant = m.tenant AND c.scope = m.scope AND c.row = m.row)

-- name: rows_after
-- Values: tenant, scope, row, limit.
SELECT tenant, scope, row, content FROM holdfast.memories
WHERE (tenant, scope, row) > ($1, $2::bigint, $3::bigint) ORDER BY tenant, scope, row LIMIT $4

-- name: rows_left
-- Rows that came while others were embedded. Values: limit.
SELECT tenant, scope, row, content FROM holdfast.memories m WHERE NOT EXISTS
    (SELECT 1 FROM holdfast.coming c
        WHERE c.tenant = m.tenant AND c.scope = m.scope AND c.row = m.row)
ORDER BY tenant, scope, row LIMIT $1

-- name: count_rows
SELECT count(*) FROM holdfast.memories

-- name: count_rows_left
SELECT count(*) FROM holdfast.memories m WHERE NOT EXISTS
    (SELECT 1 FROM holdfast.coming c
        WHERE c.tenant = m.tenant AND c.scope = m.scope AND c.row = m.row)

-- name: waiting
SELECT row, content FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND vectors IS NULL LIMIT $3

-- name: count_waiting
SELECT count(*) FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND vectors IS NULL

-- name: all_waiting
-- Values: limit.
SELECT tenant, scope, row, content FROM holdfast.memories WHERE vectors IS NULL LIMIT $1

-- name: rows_after_in
-- What the index in memory holds of new rows. Both ends are named: few rows lie between them
-- as a rule, and a plan must not think otherwise.
SELECT row, happened_at, least(happened_at, created_at), until, expires_at, length, uses, version,
    pinned, avoid, kind, session, speaker, role, writer, tags, vectors
FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row > $3 AND row <= $4 ORDER BY row

-- name: rows_in
SELECT m.* FROM unnest($3::bigint[]) AS u (nth) CROSS JOIN LATERAL (
    SELECT row, happened_at, least(happened_at, created_at), until, expires_at, length, uses,
        version, pinned, avoid, kind, session, speaker, role, writer, tags, vectors
    FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = u.nth LIMIT 1
) AS m

-- name: marked_with
-- Some rows with any of some marks. Values after the scope: marks, how many.
SELECT coalesce(substr(array_send(array_agg(row ORDER BY row)), 21), '') FROM (
    SELECT row FROM holdfast.marks
    WHERE tenant = $1 AND scope = $2 AND mark = ANY($3::text[]) LIMIT $4
) AS m

-- name: add_marks
-- Values after the scope: marks, rows.
INSERT INTO holdfast.marks (tenant, scope, mark, row)
SELECT $1, $2, u.mark, u.row FROM unnest($3::text[], $4::bigint[]) AS u (mark, row)
ON CONFLICT DO NOTHING

-- name: drop_marks
-- Values after the scope: marks, rows.
DELETE FROM holdfast.marks m USING unnest($3::text[], $4::bigint[]) AS u (mark, row)
WHERE m.tenant = $1 AND m.scope = $2 AND m.mark = u.mark AND m.row = u.row

-- name: drop_all_marks
DELETE FROM holdfast.marks WHERE tenant = $1 AND scope = $2

-- name: rows_of
-- Values after the scope: ids.
SELECT row FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND id = ANY($3::text[])

-- name: near_in
-- What the table of a large scope holds of some rows.
SELECT m.* FROM unnest($3::bigint[]) AS u (nth) CROSS JOIN LATERAL (
    SELECT row, vectors, kind, session, writer, avoid, happened_at, facets
    FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row = u.nth LIMIT 1
) AS m

-- name: near_after
SELECT row, vectors, kind, session, writer, avoid, happened_at, facets
FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND row > $3 ORDER BY row LIMIT $4

-- name: beside
-- Two turns before and after each of some rows. Values after the scope: rows, their sessions.
SELECT g.row, m.row FROM unnest($3::bigint[], $4::text[]) AS g (row, session) CROSS JOIN LATERAL (
    (SELECT row FROM holdfast.memories
        WHERE tenant = $1 AND scope = $2 AND session = g.session AND row < g.row
        ORDER BY row DESC LIMIT 2)
    UNION ALL
    (SELECT row FROM holdfast.memories
        WHERE tenant = $1 AND scope = $2 AND session = g.session AND row > g.row
        ORDER BY row LIMIT 2)
) AS m

-- name: terms_between
SELECT row, terms FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND row > $3 AND row <= $4 ORDER BY row

-- name: add_changes
-- Values after the scope: numbers and rows.
INSERT INTO holdfast.changes (tenant, scope, seq, row)
SELECT $1, $2, u.seq, u.row FROM unnest($3::bigint[], $4::bigint[]) AS u (seq, row)

-- name: changes_after
SELECT row FROM holdfast.changes WHERE tenant = $1 AND scope = $2 AND seq > $3

-- name: drop_changes
DELETE FROM holdfast.changes WHERE tenant = $1 AND scope = $2 AND seq <= $3

-- name: entry
-- Values: tenant, name of the scope, key.
SELECT e.key, e.value, e.version, e.updated_at, e.expires_at
FROM holdfast.scopes s JOIN holdfast.states e ON e.tenant = $1 AND e.scope = s.scope
WHERE s.tenant = $1 AND s.name = $2 AND e.key = $3

-- name: put_entry
INSERT INTO holdfast.states (tenant, scope, key, value, version, updated_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant, scope, key) DO UPDATE SET value = excluded.value, version = excluded.version,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at

-- name: drop_entry
DELETE FROM holdfast.states WHERE tenant = $1 AND scope = $2 AND key = $3

-- name: keys
-- Keys between two others, in order; the upper bound is left out.
SELECT key FROM holdfast.states
WHERE tenant = $1 AND scope = $2 AND key > $3 AND key >= $4 AND ($5::text IS NULL OR key < $5)
    AND (expires_at IS NULL OR expires_at > $6)
ORDER BY key LIMIT $7

-- name: entries
SELECT key, value, version, updated_at, expires_at FROM holdfast.states
WHERE tenant = $1 AND scope = $2 AND key > $3 AND (expires_at IS NULL OR expires_at > $4)
ORDER BY key LIMIT $5

-- name: count_entries
SELECT count(*) FROM holdfast.states
WHERE tenant = $1 AND scope = $2 AND (expires_at IS NULL OR expires_at > $3)

-- name: all_entries
SELECT key, version FROM holdfast.states WHERE tenant = $1 AND scope = $2

-- name: answer
-- Values: tenant, place, key.
SELECT digest, answer FROM holdfast.answers WHERE tenant = $1 AND place = $2 AND key = $3

-- name: keep_answer
-- Values: tenant, place, key, digest, about, answer, when.
INSERT INTO holdfast.answers (tenant, place, key, digest, about, answer, at)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: blank_answers
-- Values: tenant, place, about.
UPDATE holdfast.answers SET answer = NULL, about = NULL
WHERE tenant = $1 AND place = $2 AND about = $3

-- name: blank_all_answers
-- Values: tenant, place.
UPDATE holdfast.answers SET answer = NULL, about = NULL WHERE tenant = $1 AND place = $2

-- name: told_answers
-- Values: tenant, place.
SELECT key, answer FROM holdfast.answers
WHERE tenant = $1 AND place = $2 AND answer IS NOT NULL

-- name: blank_answer
-- Values: tenant, place, key.
UPDATE holdfast.answers SET answer = NULL WHERE tenant = $1 AND place = $2 AND key = $3

-- name: places_answered
SELECT DISTINCT tenant, place FROM holdfast.answers WHERE answer IS NOT NULL

-- name: drop_old_answers
DELETE FROM holdfast.answers WHERE at <= $1

-- name: known_ids
-- Values after the scope: ids.
SELECT DISTINCT id FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND id = ANY($3::text[])

-- name: expired_scopes
-- Values: now.
SELECT tenant, scope FROM holdfast.memories WHERE expires_at <= $1 GROUP BY tenant, scope
UNION SELECT tenant, scope FROM holdfast.states WHERE expires_at <= $1 GROUP BY tenant, scope

-- name: expired_memories
SELECT DISTINCT id FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND expires_at <= $3 LIMIT $4

-- name: expired_entries
SELECT key, version FROM holdfast.states WHERE tenant = $1 AND scope = $2 AND expires_at <= $3
LIMIT $4

-- name: next_expiry
SELECT least((SELECT min(expires_at) FROM holdfast.memories),
    (SELECT min(expires_at) FROM holdfast.states))

-- name: kinds
SELECT kind, count(*) FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND until IS NULL AND (expires_at IS NULL OR expires_at > $3)
GROUP BY kind ORDER BY count(*) DESC, kind COLLATE "C"

-- name: count_sessions
SELECT count(DISTINCT session) FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND session IS NOT NULL
    AND until IS NULL AND (expires_at IS NULL OR expires_at > $3)

-- name: odd_vectors
SELECT m.tenant, m.scope, m.row FROM holdfast.memories m, holdfast.spaces s
WHERE s.current = 1 AND (length(m.vectors) = 0 OR length(m.vectors) % (2 * s.dimension) > 0)

-- name: no_vectors
UPDATE holdfast.memories SET vectors = NULL WHERE tenant = $1 AND scope = $2 AND row = $3

-- name: replaced_by
SELECT record FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND superseded_by = $3 ORDER BY row

-- name: any_avoid
SELECT 1 FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND avoid = 1 LIMIT 1

-- name: add_link
INSERT INTO holdfast.links (tenant, scope, id, relation, other) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING

-- name: drop_link
DELETE FROM holdfast.links
WHERE tenant = $1 AND scope = $2 AND id = $3 AND relation = $4 AND other = $5

-- name: links_of
SELECT other FROM holdfast.links
WHERE tenant = $1 AND scope = $2 AND id = $3 AND relation = $4 ORDER BY other

-- name: links_to
SELECT id FROM holdfast.links
WHERE tenant = $1 AND scope = $2 AND other = $3 AND relation = $4 ORDER BY id

-- name: any_link
SELECT 1 FROM holdfast.links WHERE tenant = $1 AND scope = $2 LIMIT 1

-- name: drop_links
DELETE FROM holdfast.links WHERE tenant = $1 AND scope = $2 AND (id = $3 OR other = $3)

-- name: add_telling
INSERT INTO holdfast.tellings (tenant, scope, id, nth, writer, role, message, via, at)
SELECT $1, $2, $3, coalesce(max(nth), 0) + 1, $4, $5, $6, $7, $8 FROM holdfast.tellings
WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: tellings_of
SELECT writer, role, message, via FROM holdfast.tellings
WHERE tenant = $1 AND scope = $2 AND id = $3 ORDER BY nth

-- name: told_by
-- By a writer's name, or by the key it came by.
SELECT DISTINCT id FROM holdfast.tellings
WHERE tenant = $1 AND scope = $2 AND (writer = $3 OR via = $3) AND at >= $4 ORDER BY id

-- name: untell
DELETE FROM holdfast.tellings
WHERE tenant = $1 AND scope = $2 AND (writer = $3 OR via = $3) AND at >= $4

-- name: drop_tellings
DELETE FROM holdfast.tellings WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: add_slot
INSERT INTO holdfast.slots (tenant, scope, id, who, attribute, thing)
VALUES ($1, $2, $3, sha256(convert_to($4, 'UTF8')), sha256(convert_to($5, 'UTF8')),
    sha256(convert_to($6, 'UTF8')))
ON CONFLICT (tenant, scope, id, who, attribute) DO UPDATE SET thing = excluded.thing

-- name: slotted
SELECT row FROM holdfast.slotted WHERE tenant = $1 AND scope = $2

-- name: rows_to_slot
SELECT record FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND row > $3 ORDER BY row LIMIT $4

-- name: reach_slots
INSERT INTO holdfast.slotted AS s (tenant, scope, row) VALUES ($1, $2, $3)
ON CONFLICT (tenant, scope) DO UPDATE SET row = greatest(s.row, excluded.row)

-- name: unslot
DELETE FROM holdfast.slotted WHERE tenant = $1 AND scope = $2

-- name: drop_slots
DELETE FROM holdfast.slots WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: slots_of
SELECT id, who, attribute, thing FROM holdfast.slots
WHERE tenant = $1 AND scope = $2 AND id = ANY ($3)

-- name: slots_like
SELECT DISTINCT id FROM holdfast.slots WHERE tenant = $1 AND scope = $2
    AND who = sha256(convert_to($3, 'UTF8')) AND attribute = sha256(convert_to($4, 'UTF8'))
ORDER BY id

-- name: slots_holding
SELECT DISTINCT id FROM holdfast.slots WHERE tenant = $1 AND scope = $2
    AND thing = sha256(convert_to($3, 'UTF8'))
ORDER BY id

-- name: written_by
SELECT id FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND (writer = $3 OR via = $3) AND created_at >= $4
GROUP BY id ORDER BY id

-- name: add_heard
INSERT INTO holdfast.heard (tenant, scope, turn) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING

-- name: heard
SELECT 1 FROM holdfast.heard WHERE tenant = $1 AND scope = $2 AND turn = $3

-- name: hold
INSERT INTO holdfast.held (tenant, scope, id, draft, why, at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant, scope, id) DO UPDATE SET draft = excluded.draft, why = excluded.why,
    at = excluded.at

-- name: all_held
SELECT id, draft, why, at FROM holdfast.held
WHERE tenant = $1 AND scope = $2 ORDER BY at, id LIMIT $3

-- name: one_held
SELECT id, draft, why, at FROM holdfast.held WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: release
DELETE FROM holdfast.held WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: policy
-- Values: tenant, name of the scope.
SELECT p.policy
FROM holdfast.scopes s JOIN holdfast.policies p ON p.tenant = $1 AND p.scope = s.scope
WHERE s.tenant = $1 AND s.name = $2

-- name: set_policy
INSERT INTO holdfast.policies (tenant, scope, policy) VALUES ($1, $2, $3)
ON CONFLICT (tenant, scope) DO UPDATE SET policy = excluded.policy

-- name: add_job
INSERT INTO holdfast.jobs (tenant, scope, id, session, work, state, attempts, due, at, job)
SELECT $1, $2, $3, $4, $5, 'waiting', 0, $6, $7, coalesce(max(job), 0) + 1 FROM holdfast.jobs
WHERE tenant = $1 AND scope = $2

-- name: count_jobs
SELECT count(*) FROM holdfast.jobs WHERE tenant = $1 AND scope = $2 AND state <> 'dead'

-- name: next_job
-- The first that is due, or whose runner is taken for lost; those that others take are passed
-- over. Values: now.
SELECT j.tenant, s.name, j.scope, j.id, j.work, j.attempts FROM holdfast.jobs j
JOIN holdfast.scopes s ON s.tenant = j.tenant AND s.scope = j.scope
WHERE j.state <> 'dead' AND j.due <= $1 ORDER BY j.due, j.at, j.job LIMIT 1
FOR UPDATE OF j SKIP LOCKED

-- name: next_due
SELECT min(due) FROM holdfast.jobs WHERE state <> 'dead'

-- name: take_job
UPDATE holdfast.jobs SET state = 'running', attempts = attempts + 1, due = $4
WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: job
SELECT * FROM holdfast.jobs WHERE tenant = $1 AND scope = $2 AND id = $3 FOR UPDATE

-- name: all_jobs
SELECT * FROM holdfast.jobs WHERE tenant = $1 AND scope = $2 ORDER BY job LIMIT $3

-- name: change_job
-- Values: state, attempts, due, trouble, tenant, scope, id.
UPDATE holdfast.jobs SET state = $1, attempts = $2, due = $3, trouble = $4
WHERE tenant = $5 AND scope = $6 AND id = $7

-- name: drop_job
DELETE FROM holdfast.jobs WHERE tenant = $1 AND scope = $2 AND id = $3

-- name: drop_session_jobs
DELETE FROM holdfast.jobs WHERE tenant = $1 AND scope = $2 AND session = $3

-- name: drop_scope_jobs
DELETE FROM holdfast.jobs WHERE tenant = $1 AND scope = $2

-- name: drop_scope_held
DELETE FROM holdfast.held WHERE tenant = $1 AND scope = $2

-- name: drop_heard
DELETE FROM holdfast.heard WHERE tenant = $1 AND scope = $2

-- name: drop_policy
DELETE FROM holdfast.policies WHERE tenant = $1 AND scope = $2

-- name: drop_scope_changes
DELETE FROM holdfast.changes WHERE tenant = $1 AND scope = $2

-- name: api_key
-- Values: id.
SELECT * FROM holdfast.keys WHERE id = $1

-- name: api_keys
-- Values: tenant.
SELECT * FROM holdfast.keys WHERE tenant = $1 ORDER BY name, created_at

-- name: all_api_keys
SELECT * FROM holdfast.keys ORDER BY tenant, name, created_at

-- name: any_api_key
SELECT EXISTS (SELECT 1 FROM holdfast.keys)

-- name: put_api_key
INSERT INTO holdfast.keys
    (id, tenant, name, digest, rights, prefix, role, created_at, expires_at, revoked_at,
    last_used_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, digest = excluded.digest,
    rights = excluded.rights, prefix = excluded.prefix, role = excluded.role,
    created_at = excluded.created_at,
    expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
    last_used_at = excluded.last_used_at

-- name: same_name
-- Values: tenant, name, id.
SELECT 1 FROM holdfast.keys WHERE tenant = $1 AND name = $2 AND id <> $3 AND revoked_at IS NULL

-- name: use_api_keys
-- Values: ids, and when each was last used.
UPDATE holdfast.keys k SET last_used_at = greatest(coalesce(k.last_used_at, 0), u.at)
FROM unnest($1::text[], $2::bigint[]) AS u (id, at) WHERE k.id = u.id

-- name: add_note
-- Values: tenant, when, key, act, scope, subject, request.
INSERT INTO holdfast.audit (tenant, at, key, act, scope, subject, request)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: notes
-- Values: tenant, before, limit.
SELECT * FROM holdfast.audit WHERE tenant = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3

-- name: prune_notes
-- Values: tenant, before.
DELETE FROM holdfast.audit WHERE tenant = $1 AND at < $2

-- name: prune_all_notes
DELETE FROM holdfast.audit WHERE at < $1

-- name: count_write
-- Values: tenant, day, lane.
INSERT INTO holdfast.days AS d (tenant, day, lane, writes) VALUES ($1, $2, $3, 1)
ON CONFLICT (tenant, day, lane) DO UPDATE SET writes = d.writes + 1

-- name: writes_of_day
-- Values: tenant, day.
SELECT sum(writes)::bigint FROM holdfast.days WHERE tenant = $1 AND day = $2

-- name: drop_days
-- Values: tenant, day.
DELETE FROM holdfast.days WHERE tenant = $1 AND day < $2

-- name: put_errand
INSERT INTO holdfast.errands (id, tenant, scope, task, status, result, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant, id) DO UPDATE SET scope = excluded.scope, task = excluded.task,
    status = excluded.status, result = excluded.result, created_at = excluded.created_at,
    updated_at = excluded.updated_at

-- name: errand
-- Values: tenant, id.
SELECT * FROM holdfast.errands WHERE tenant = $1 AND id = $2

-- name: open_errands
-- Values: untouched since, limit.
SELECT * FROM holdfast.errands WHERE status = 'accepted' AND updated_at <= $1
ORDER BY updated_at LIMIT $2

-- name: take_errand
-- Values: now, tenant, id, when it was seen.
UPDATE holdfast.errands SET updated_at = $1
WHERE tenant = $2 AND id = $3 AND updated_at = $4 AND status = 'accepted' RETURNING id

-- name: end_errand
-- Values: status, result, now, tenant, id.
UPDATE holdfast.errands SET task = NULL, status = $1, result = $2, updated_at = $3
WHERE tenant = $4 AND id = $5

-- name: drop_errands
-- Values: tenant, the scope's name.
DELETE FROM holdfast.errands WHERE tenant = $1 AND scope = $2

-- name: scope_names
-- Values: tenant, after, prefix, the first name after all with the prefix, limit.
SELECT name FROM holdfast.scopes
WHERE tenant = $1 AND name > $2 AND name >= $3 AND ($4::text IS NULL OR name < $4)
ORDER BY name LIMIT $5

-- name: count_by_session
SELECT session, count(*) FROM holdfast.memories
WHERE tenant = $1 AND scope = $2 AND session IS NOT NULL
    AND until IS NULL AND (expires_at IS NULL OR expires_at > $3)
GROUP BY session ORDER BY session

-- name: tenant_holds
-- Values: tenant.
SELECT count(*), (coalesce(sum(octet_length(content) + length(meta)), 0) + (
    SELECT coalesce(sum(octet_length(value)), 0) FROM holdfast.states WHERE tenant = $1
))::bigint
FROM holdfast.memories WHERE tenant = $1

-- name: count_memories
SELECT count(*) FROM holdfast.memories

-- name: count_open_errands
SELECT (SELECT count(*) FROM holdfast.errands WHERE status = 'accepted')
     + (SELECT count(*) FROM holdfast.jobs WHERE state <> 'dead')

-- name: ring
-- Tells whoever listens that there is a job.
SELECT pg_notify('holdfast_jobs', '')

-- name: size
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'holdfast' AND c.relkind = 'r'
