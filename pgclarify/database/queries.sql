-- What workers send besides calls of internal functions.

-- name: pin_session
-- Before any other statement: a database or a role may name a schema with functions of others, which this session would run,
-- and may change how values are written, read and found. One message, and no function is called.
set search_path = pg_catalog, pg_temp;
set client_encoding = 'UTF8';
set standard_conforming_strings = on;
set datestyle = 'ISO, MDY';
set intervalstyle = 'postgres';
set timezone = 'UTC';
set extra_float_digits = 1;
set bytea_output = 'hex';
set array_nulls = on;
set quote_all_identifiers = off;
set gin_fuzzy_search_limit = 0;

-- name: prepare_session
-- Override settings that a database has for people; limit statements and waiting; release locks if this worker dies.
select set_config(given.name, given.value, false)
from (
    values
    ('lock_timeout', '5s'),
    -- Most statements take milliseconds. A search without an index, inserts into large indexes of vectors, the switch to
    -- another model or the vectors of a book may take minutes.
    ('statement_timeout', '10min'),
    ('transaction_timeout', '0'),
    ('idle_session_timeout', '0'),
    ('idle_in_transaction_session_timeout', '20s'),
    -- Statements take milliseconds, compiling one hundreds of them.
    ('jit', 'off'),
    ('default_transaction_isolation', 'read committed'),
    ('default_transaction_read_only', 'off'),
    ('tcp_keepalives_idle', '5'),
    ('tcp_keepalives_interval', '5'),
    ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '20s')
) as given (name, value)
-- Some settings exist only in later versions of the server.
inner join pg_catalog.pg_settings on pg_settings.name = given.name;

-- name: lift_limit
-- Let statements of this session take any time: a person waits for the answer, and may end it.
select set_config('statement_timeout', '0', false);

-- name: find_vector_types
-- Find pgvector's types in any schema.
select set_config('search_path', 'pg_catalog, ' || quote_ident(pg_namespace.nspname) || ', pg_temp', false)
from pg_catalog.pg_extension
inner join pg_catalog.pg_namespace on pg_extension.extnamespace = pg_namespace.oid
where pg_extension.extname = 'vector';

-- name: get_session
-- The process id of this session.
select pg_catalog.pg_backend_pid() as process_id;

-- name: take_worker_lock
-- Hold the lock that shows this session's worker is alive; false if another session holds it.
select pg_try_advisory_lock(1885823084, %(worker_id)s::integer) as is_locked;

-- name: forget_session
-- Reset a session: settings, prepared statements, locks, temporary tables.
discard all;

-- name: end_session
-- Terminate a session of this role, with its statement.
select pg_catalog.pg_terminate_backend(%(process_id)s::integer);

-- name: stage_passages
-- Copy passages of a batch to the staging table of store_documents.
copy pgclarify_private.staged_passage
(batch_id, document_id, ordinal, heading, content, start_char, end_char, content_hash, vector)
from stdin (format binary);

-- name: limit_statements
-- Limit the time of statements for the rest of this transaction.
select set_config('statement_timeout', %(limit)s, true);

-- name: watch_runs
-- Which runs were cancelled or taken over, and for which a caller waits. Queued runs that a caller waits for go first.
select
    pgclarify_private.lost_runs(%(run_ids)s::bigint[], %(attempts)s::integer[]) as lost,
    pgclarify_private.follow_watchers(%(run_ids)s::bigint[]) as waited_for;
