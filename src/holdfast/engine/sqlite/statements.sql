-- `SELECT record` stands for the columns that make a record (statements.py).

-- name: find_scope
-- With all that a write has to know of its place.
SELECT s.scope, p.policy, e.name, e.version, e.dimension FROM scopes s
LEFT JOIN policies p ON p.scope = s.scope LEFT JOIN spaces e ON e.current = 1
WHERE s.tenant = ? AND s.name = ?

-- name: add_scope
INSERT INTO scopes (tenant, name) VALUES (?, ?)

-- name: drop_scope
DELETE FROM scopes WHERE scope = ?

-- name: drop_empty_scopes
DELETE FROM scopes WHERE
    NOT EXISTS (SELECT 1 FROM memories m WHERE m.scope = scopes.scope)
    AND NOT EXISTS (SELECT 1 FROM states s WHERE s.scope = scopes.scope)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.scope = scopes.scope)
    AND NOT EXISTS (SELECT 1 FROM held h WHERE h.scope = scopes.scope)
    AND NOT EXISTS (SELECT 1 FROM policies p WHERE p.scope = scopes.scope)

-- name: every_scope
SELECT tenant, name, (SELECT count(*) FROM memories m WHERE m.scope = scopes.scope) FROM scopes
ORDER BY tenant, name

-- name: every_id
SELECT DISTINCT id FROM memories WHERE scope = ?

-- name: drop_states
DELETE FROM states WHERE scope = ?

-- name: drop_answers
DELETE FROM answers WHERE scope = ?

-- name: name_scope
SELECT tenant, name FROM scopes WHERE scope = ?

-- name: retire
INSERT INTO retired (place, version) VALUES (?, ?)
ON CONFLICT (place) DO UPDATE SET version = max(version, excluded.version)

-- name: retired
SELECT version FROM retired WHERE place = ?

-- name: add_memory
INSERT INTO memories (
    scope, id, version, vectors, speaker, length, fingerprint, content, terms, kind, tags, meta,
    session, writer, role, message, pinned, created_at, happened_at, expires_at, until,
    superseded_by, uses, last_used_at, avoid, via
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: change_memory
-- Everything but the words and what is indexed by them.
UPDATE memories SET kind = ?, tags = ?, meta = ?, session = ?, writer = ?, role = ?, message = ?,
    pinned = ?, created_at = ?, happened_at = ?, expires_at = ?, until = ?, superseded_by = ?,
    uses = ?, last_used_at = ?, avoid = ?, via = ?
WHERE scope = ? AND id = ? AND version = ? RETURNING row

-- name: share_expiry
-- Every version of a memory lives as long as its last one.
UPDATE memories SET expires_at = ?1 WHERE scope = ?2 AND id = ?3 AND expires_at IS NOT ?1
RETURNING row

-- name: row_of
SELECT row, terms, vectors, speaker, length, fingerprint, content, terms FROM memories WHERE scope = ? AND id = ? AND version = ?

-- name: new_words
UPDATE memories SET version = ?, vectors = ?, speaker = ?, length = ?, fingerprint = ?,
    content = ?, terms = ?
WHERE scope = ? AND row = ?

-- name: versions
SELECT record FROM memories WHERE scope = ? AND id = ? ORDER BY version

-- name: terms_of
SELECT row, terms FROM memories WHERE scope = ? AND id = ?

-- name: memories
-- By their rows alone, without the index of a scope: that is the shorter way to a few of them.
SELECT record FROM memories WHERE +scope = ? AND row IN (SELECT value FROM json_each(?))

-- name: twin
SELECT record FROM memories WHERE scope = ? AND fingerprint = ? AND until IS NULL

-- name: count_all
SELECT count(*) FROM memories WHERE scope = ?

-- name: drop_memory
DELETE FROM memories WHERE scope = ? AND row = ?

-- name: use_memory
UPDATE memories SET uses = uses + ?, last_used_at = max(coalesce(last_used_at, 0), ?)
WHERE scope = ? AND row = ?

-- name: add_words
INSERT INTO words (rowid, terms) VALUES (?, ?)

-- name: drop_words
INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)

-- name: find_words
SELECT group_concat(rowid) FROM words WHERE words MATCH ?

-- name: current_space
SELECT space, name, version, dimension FROM spaces WHERE current = 1

-- name: coming_space
SELECT space, name, version, dimension, reached FROM spaces WHERE current = 0

-- name: add_space
INSERT INTO spaces (name, version, dimension, current, reached) VALUES (?, ?, ?, ?, 0)

-- name: reach_space
UPDATE spaces SET reached = ? WHERE space = ?

-- name: drop_space
DELETE FROM spaces WHERE space = ?

-- name: put_vectors
-- Only where there are none: the row may have got some, or be gone, meanwhile.
UPDATE memories SET vectors = ? WHERE scope = ? AND row = ? AND vectors IS NULL

-- name: put_coming
INSERT OR REPLACE INTO coming (row, vectors) SELECT row, ? FROM memories WHERE row = ?

-- name: move_coming
UPDATE coming SET row = ? WHERE row = ?

-- name: drop_coming
DELETE FROM coming WHERE row = ?

-- name: drop_all_coming
DELETE FROM coming

-- name: take_coming
-- A row that has none, because it was revised meanwhile, waits for its vectors.
UPDATE memories SET vectors = (SELECT c.vectors FROM coming c WHERE c.row = memories.row)

-- name: switch_space
UPDATE spaces SET current = 1 WHERE space = ?

-- name: rows_after
SELECT row, scope, content FROM memories WHERE row > ? ORDER BY row LIMIT ?

-- name: count_rows_after
SELECT count(*) FROM memories WHERE row > ?

-- name: waiting
SELECT row, content FROM memories WHERE scope = ? AND vectors IS NULL LIMIT ?

-- name: count_waiting
SELECT count(*) FROM memories WHERE scope = ? AND vectors IS NULL

-- name: all_waiting
SELECT row, scope, content FROM memories WHERE vectors IS NULL LIMIT ?

-- name: rows_between_in
-- What the index in memory holds of new rows, a column at a time, in order: SQLite puts them
-- together while Python does other things, and makes nothing of each row.
SELECT group_concat(row), group_concat(happened_at), group_concat(min(happened_at, created_at)),
    group_concat(ifnull(until, 9223372036854775807)),
    group_concat(ifnull(expires_at, 9223372036854775807)),
    group_concat(length), group_concat(uses), group_concat(version), group_concat(pinned),
    group_concat(avoid), json_group_array(kind), json_group_array(session),
    json_group_array(speaker), json_group_array(role), json_group_array(writer),
    json_group_array(tags), group_concat(ifnull(length(vectors), 0)),
    CAST(group_concat(vectors, '') AS BLOB)
FROM memories INDEXED BY memories_scope WHERE scope = ? AND row > ? AND row <= ?

-- name: step_in
SELECT row FROM memories WHERE scope = ? AND row > ? ORDER BY row LIMIT 1 OFFSET ?

-- name: count_after_in
SELECT count(*) FROM memories WHERE scope = ? AND row > ?

-- name: rows_in
SELECT row, happened_at, min(happened_at, created_at), until, expires_at, length, uses, version,
    pinned, avoid, kind, session, speaker, role, writer, tags, vectors
FROM memories WHERE scope = ? AND row IN (SELECT value FROM json_each(?))

-- name: terms_after
SELECT row, terms FROM memories WHERE scope = ? AND row > ? AND row <= ? ORDER BY row

-- name: add_change
INSERT INTO changes (scope, row) VALUES (?, ?)

-- name: changes_after
SELECT seq, row FROM changes WHERE scope = ? AND seq > ? ORDER BY seq

-- name: pulse
-- Whatever is written to the memories of a scope, one of these changes.
SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'changes'),
    (SELECT seq FROM sqlite_sequence WHERE name = 'memories'),
    (SELECT max(row) FROM memories WHERE scope = ?),
    (SELECT count(*) FROM memories WHERE scope = ? AND vectors IS NULL)

-- name: last_row_given
SELECT seq FROM sqlite_sequence WHERE name = 'memories'

-- name: first_change
SELECT min(seq) FROM changes

-- name: drop_changes
DELETE FROM changes WHERE seq <= ?

-- name: entry
SELECT key, value, version, updated_at, expires_at FROM states
WHERE scope = (SELECT scope FROM scopes WHERE tenant = ? AND name = ?) AND key = ?

-- name: put_entry
INSERT INTO states (scope, key, value, version, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, version = excluded.version,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at

-- name: drop_entry
DELETE FROM states WHERE scope = ? AND key = ?

-- name: keys
-- Keys between two others, in order; the upper bound is left out.
SELECT key FROM states
WHERE scope = ? AND key > ? AND key >= ? AND (? IS NULL OR key < ?)
    AND (expires_at IS NULL OR expires_at > ?)
ORDER BY key LIMIT ?

-- name: entries
SELECT key, value, version, updated_at, expires_at FROM states
WHERE scope = ? AND key > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?

-- name: count_entries
SELECT count(*) FROM states WHERE scope = ? AND (expires_at IS NULL OR expires_at > ?)

-- name: all_entries
SELECT key, version FROM states WHERE scope = ?

-- name: answer
SELECT digest, answer FROM answers WHERE key = ?

-- name: keep_answer
INSERT INTO answers (key, digest, scope, about, answer, at) VALUES (?, ?, ?, ?, ?, ?)

-- name: blank_answers
UPDATE answers SET answer = NULL, about = NULL WHERE scope = ? AND about = ?

-- name: blank_all_answers
UPDATE answers SET answer = NULL, about = NULL WHERE scope = ?

-- name: blank_stale_answers
-- Answers that name a memory which is no longer there.
UPDATE answers SET answer = NULL WHERE answer IS NOT NULL AND EXISTS (
    SELECT 1 FROM json_tree(answer) AS told WHERE told.key = 'id' AND NOT EXISTS (
        SELECT 1 FROM memories m WHERE m.scope = answers.scope AND m.id = told.value))

-- name: drop_old_answers
DELETE FROM answers WHERE at <= ?

-- name: expired_memories
SELECT scope, id FROM memories WHERE expires_at <= ? GROUP BY scope, id LIMIT ?

-- name: expired_entries
SELECT scope, key, version FROM states WHERE expires_at <= ? LIMIT ?

-- name: next_expiry
SELECT min(at) FROM (SELECT min(expires_at) AS at FROM memories WHERE expires_at IS NOT NULL
    UNION ALL SELECT min(expires_at) FROM states WHERE expires_at IS NOT NULL)

-- name: kinds
SELECT kind, count(*) FROM memories
WHERE scope = ? AND until IS NULL AND (expires_at IS NULL OR expires_at > ?)
GROUP BY kind ORDER BY count(*) DESC, kind

-- name: count_sessions
SELECT count(DISTINCT session) FROM memories WHERE scope = ? AND session IS NOT NULL
    AND until IS NULL AND (expires_at IS NULL OR expires_at > ?)

-- name: terms_between
SELECT row, scope, terms FROM memories WHERE row > ? AND row <= ? ORDER BY row

-- name: odd_vectors
SELECT m.scope, m.row FROM memories m, spaces s
WHERE s.current = 1 AND (length(m.vectors) = 0 OR length(m.vectors) % (2 * s.dimension) > 0)

-- name: no_vectors
UPDATE memories SET vectors = NULL WHERE row = ?

-- name: replaced_by
SELECT record FROM memories WHERE scope = ? AND superseded_by = ? ORDER BY row

-- name: any_avoid
SELECT 1 FROM memories WHERE scope = ? AND avoid = 1 LIMIT 1

-- name: add_link
INSERT OR IGNORE INTO links (scope, id, relation, other) VALUES (?, ?, ?, ?)

-- name: drop_link
DELETE FROM links WHERE scope = ? AND id = ? AND relation = ? AND other = ?

-- name: links_of
SELECT other FROM links WHERE scope = ? AND id = ? AND relation = ? ORDER BY other

-- name: links_to
SELECT id FROM links WHERE scope = ? AND other = ? AND relation = ? ORDER BY id

-- name: any_link
SELECT 1 FROM links WHERE scope = ? LIMIT 1

-- name: drop_links
DELETE FROM links WHERE scope = ?1 AND (id = ?2 OR other = ?2)

-- name: add_telling
INSERT INTO tellings (scope, id, writer, role, message, via, at) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: tellings_of
SELECT writer, role, message, via FROM tellings WHERE scope = ? AND id = ? ORDER BY rowid

-- name: told_by
-- By a writer's name, or by the key it came by.
SELECT DISTINCT id FROM tellings WHERE scope = ?1 AND (writer = ?2 OR via = ?2) AND at >= ?3

-- name: untell
DELETE FROM tellings WHERE scope = ?1 AND (writer = ?2 OR via = ?2) AND at >= ?3

-- name: drop_tellings
DELETE FROM tellings WHERE scope = ? AND id = ?

-- name: add_slot
INSERT OR REPLACE INTO slots (scope, id, who, attribute, thing) VALUES (?, ?, ?, ?, ?)

-- name: slotted
SELECT row FROM slotted WHERE scope = ?

-- name: rows_to_slot
SELECT record FROM memories WHERE scope = ? AND row > ? ORDER BY row LIMIT ?

-- name: reach_slots
INSERT INTO slotted (scope, row) VALUES (?, ?)
ON CONFLICT (scope) DO UPDATE SET row = max(row, excluded.row)

-- name: unslot
DELETE FROM slotted WHERE scope = ?

-- name: drop_slots
DELETE FROM slots WHERE scope = ? AND id = ?

-- name: slots_of
SELECT id, who, attribute, thing FROM slots
WHERE scope = ? AND id IN (SELECT value FROM json_each(?))

-- name: slots_like
SELECT DISTINCT id FROM slots WHERE scope = ? AND who = ? AND attribute = ?

-- name: slots_holding
SELECT DISTINCT id FROM slots WHERE scope = ? AND thing = ?

-- name: written_by
SELECT id FROM memories WHERE scope = ?1 AND (writer = ?2 OR via = ?2) AND created_at >= ?3
GROUP BY id

-- name: add_heard
INSERT OR IGNORE INTO heard (scope, turn) VALUES (?, ?)

-- name: heard
SELECT 1 FROM heard WHERE scope = ? AND turn = ?

-- name: hold
INSERT OR REPLACE INTO held (scope, id, draft, why, at) VALUES (?, ?, ?, ?, ?)

-- name: all_held
SELECT id, draft, why, at FROM held WHERE scope = ? ORDER BY at, id LIMIT ?

-- name: one_held
SELECT id, draft, why, at FROM held WHERE scope = ? AND id = ?

-- name: release
DELETE FROM held WHERE scope = ? AND id = ?

-- name: set_policy
INSERT OR REPLACE INTO policies (scope, policy) VALUES (?, ?)

-- name: add_job
INSERT INTO jobs (scope, id, session, work, state, attempts, due, at)
VALUES (?, ?, ?, ?, 'waiting', 0, ?, ?)

-- name: count_jobs
SELECT count(*) FROM jobs WHERE scope = ? AND state <> 'dead'

-- name: next_job
-- The first that is due, or whose runner is taken for lost.
SELECT jobs.*, scopes.tenant, scopes.name FROM jobs JOIN scopes ON scopes.scope = jobs.scope
WHERE state <> 'dead' AND due <= ? ORDER BY due, job LIMIT 1

-- name: next_due
SELECT min(due) FROM jobs WHERE state <> 'dead'

-- name: take_job
UPDATE jobs SET state = 'running', attempts = attempts + 1, due = ? WHERE scope = ? AND id = ?

-- name: job
SELECT * FROM jobs WHERE scope = ? AND id = ?

-- name: all_jobs
SELECT * FROM jobs WHERE scope = ? ORDER BY job LIMIT ?

-- name: change_job
UPDATE jobs SET state = ?, attempts = ?, due = ?, trouble = ? WHERE scope = ? AND id = ?

-- name: drop_job
DELETE FROM jobs WHERE scope = ? AND id = ?

-- name: drop_session_jobs
DELETE FROM jobs WHERE scope = ? AND session = ?

-- name: drop_scope_jobs
DELETE FROM jobs WHERE scope = ?

-- name: drop_scope_held
DELETE FROM held WHERE scope = ?

-- name: drop_heard
DELETE FROM heard WHERE scope = ?

-- name: drop_policy
DELETE FROM policies WHERE scope = ?
-- name: api_key
SELECT * FROM keys WHERE id = ?

-- name: api_keys
SELECT * FROM keys WHERE tenant = ? ORDER BY name, created_at

-- name: all_api_keys
SELECT * FROM keys ORDER BY tenant, name, created_at

-- name: any_api_key
SELECT EXISTS (SELECT 1 FROM keys)

-- name: put_api_key
INSERT OR REPLACE INTO keys
    (id, tenant, name, digest, rights, prefix, role, created_at, expires_at, revoked_at,
    last_used_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: same_name
SELECT 1 FROM keys WHERE tenant = ? AND name = ? AND id <> ? AND revoked_at IS NULL

-- name: use_api_key
UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?

-- name: add_note
INSERT INTO audit (tenant, at, key, act, scope, subject, request) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: notes
SELECT * FROM audit WHERE tenant = ? AND seq < ? ORDER BY seq DESC LIMIT ?

-- name: prune_notes
DELETE FROM audit WHERE tenant = ? AND at < ?

-- name: prune_all_notes
DELETE FROM audit WHERE at < ?

-- name: count_write
INSERT INTO days (tenant, day, writes) VALUES (?, ?, 1)
ON CONFLICT (tenant, day) DO UPDATE SET writes = writes + 1 RETURNING writes

-- name: drop_days
DELETE FROM days WHERE tenant = ? AND day < ?

-- name: put_errand
INSERT OR REPLACE INTO errands (id, tenant, scope, task, status, result, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: errand
SELECT * FROM errands WHERE tenant = ? AND id = ?

-- name: open_errands
SELECT * FROM errands WHERE status = 'accepted' AND updated_at <= ? ORDER BY updated_at LIMIT ?

-- name: take_errand
UPDATE errands SET updated_at = ? WHERE tenant = ? AND id = ? AND updated_at = ?
    AND status = 'accepted'

-- name: end_errand
UPDATE errands SET task = NULL, status = ?, result = ?, updated_at = ? WHERE tenant = ? AND id = ?

-- name: drop_errands
DELETE FROM errands WHERE tenant = ? AND scope = ?

-- name: scope_names
SELECT name FROM scopes WHERE tenant = ? AND name > ? AND substr(name, 1, ?) = ?
ORDER BY name LIMIT ?

-- name: count_by_session
SELECT session, count(*) FROM memories WHERE scope = ? AND session IS NOT NULL
    AND until IS NULL AND (expires_at IS NULL OR expires_at > ?)
GROUP BY session ORDER BY session

-- name: tenant_holds
SELECT count(*), coalesce(sum(length(CAST(m.content AS BLOB)) + length(m.meta)), 0) + (
    SELECT coalesce(sum(length(CAST(t.value AS BLOB))), 0)
    FROM states t JOIN scopes s ON t.scope = s.scope WHERE s.tenant = :tenant
)
FROM memories m JOIN scopes s ON m.scope = s.scope WHERE s.tenant = :tenant

-- name: count_memories
SELECT count(*) FROM memories

-- name: count_open_work
SELECT (SELECT count(*) FROM errands WHERE status = 'accepted')
     + (SELECT count(*) FROM jobs WHERE state <> 'dead')
