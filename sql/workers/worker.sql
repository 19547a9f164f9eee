-- Workers, and which of them are alive. 1885823084 is 'pgcl' in ASCII: the first key of all our advisory locks.

create or replace function pgclarify_private.living_workers()
returns setof pgclarify_private.worker
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select worker.*
    from pgclarify_private.worker
    where
        -- In a frozen snapshot, the row does not show later heartbeats.
        worker.seen_at + worker.lease > case
            when current_setting('transaction_isolation') in ('repeatable read', 'serializable') then now()
            else clock_timestamp()
        end
        and (
            pg_is_in_recovery()
            or worker.worker_id in (
                select pg_locks.objid::bigint
                from pg_catalog.pg_locks
                inner join pg_catalog.pg_stat_activity as session on pg_locks.pid = session.pid
                where
                    pg_locks.locktype = 'advisory'
                    and pg_locks.classid = 1885823084
                    and pg_locks.objsubid = 2
                    and pg_locks.database = (
                        select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database()
                    )
                    and pg_locks.granted
                    -- Every role can take a lock with any number; only locks of workers count.
                    and pg_catalog.pg_has_role(session.usesysid, 'pgclarify_worker', 'member')
            )
        );
end;

comment on function pgclarify_private.living_workers() is
'Workers that are alive: the session holds the advisory lock, and the last heartbeat is not older than the lease. The lock '
'shows at once that a process was killed. The heartbeat shows that a process is stopped, or that the network is down. '
'Workers that do not execute runs are included. Above READ COMMITTED, the heartbeat is compared with the start of the '
'transaction. A standby does not show locks of the primary, so only the heartbeat counts there.';

create or replace function pgclarify_private.serving_workers()
returns setof pgclarify_private.worker
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select living.* from pgclarify_private.living_workers() as living where living.is_serving;
end;

comment on function pgclarify_private.serving_workers() is 'Live workers that execute runs.';

create or replace function pgclarify_private.why_unserved()
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when count(*) = 0 then 'none is running'
            when bool_and(applied_sql.shipped_hash is null)
                then 'those that are running are of another version, and take no more runs: '
                    || string_agg(distinct format('%s on %s', serving.version, serving.host), ', ')
        end
    from pgclarify_private.serving_workers() as serving
    left join pgclarify_private.applied_sql on serving.schema_hash = applied_sql.shipped_hash;
end;

comment on function pgclarify_private.why_unserved() is
'Of workers: why none takes runs, as this snapshot shows; null if one does.';

create or replace function pgclarify_private.why_unserved_now()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.has_frozen_snapshot() then
        begin
            return pgclarify_private.loopback_call('why_unserved', '{}') #>> '{}';
        exception when others then
            -- The caller is about to raise an error that names its runs, which is worth more than the cause.
            return null;
        end;
    end if;
    -- A transaction caches the list of sessions at its first read.
    perform pg_stat_clear_snapshot();
    return pgclarify_private.why_unserved();
end
$$;

comment on function pgclarify_private.why_unserved_now() is
'The result of why_unserved, through the loopback if the snapshot of this transaction is too old; null if that fails.';

create or replace function pgclarify_private.register_worker(
    host text,
    process_id integer,
    version text,
    provider text,
    model text,
    prompt_version text,
    is_serving boolean,
    lease interval,
    schema_hash text
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_worker_id bigint;
begin
    -- Delete workers that died long ago; other tables refer to workers only by id.
    delete from pgclarify_private.worker
    where worker.seen_at < now() - interval '30 days'
        and worker.worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living);
    insert into pgclarify_private.worker (
        host, process_id, version, provider, model, prompt_version, is_serving, lease, schema_hash
    )
    values (
        register_worker.host, register_worker.process_id, register_worker.version, register_worker.provider,
        register_worker.model, register_worker.prompt_version, register_worker.is_serving, register_worker.lease,
        register_worker.schema_hash
    )
    returning worker_id into v_worker_id;
    return v_worker_id;
end
$$;

comment on function pgclarify_private.register_worker(text, integer, text, text, text, text, boolean, interval, text) is
'Register a worker and return its id. It is alive while its session holds the advisory lock (1885823084, worker_id) and it '
'calls note_heartbeat within its lease. is_serving: false for a process that only leases replies of the ledger. schema_hash: '
'of the schema that it works with; it takes runs while that schema is installed.';
grant execute on function pgclarify_private.register_worker(
    text, integer, text, text, text, text, boolean, interval, text
) to pgclarify_worker;

create or replace function pgclarify_private.note_heartbeat(worker_id bigint, embedding_models text[])
returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with seen as (
        update pgclarify_private.worker
        set
            seen_at = clock_timestamp(),
            embedding_models = note_heartbeat.embedding_models
        where
            worker.worker_id = note_heartbeat.worker_id
            and (
                worker.seen_at + worker.lease > clock_timestamp()
                -- Without another live worker, no run is taken over, so a worker that was only suspended may continue.
                or not exists (
                    select from pgclarify_private.living_workers() as other where other.worker_id <> note_heartbeat.worker_id
                )
            )
        returning worker.worker_id
    )
    select count(*) > 0 from seen;
end;

comment on function pgclarify_private.note_heartbeat(bigint, text[]) is
'The heartbeat of a worker, and the models that it has loaded. False if the lease has expired and another worker is alive: '
'then the worker stays dead, and must register again.';
grant execute on function pgclarify_private.note_heartbeat(bigint, text[]) to pgclarify_worker;

create or replace function pgclarify_private.worker_statuses()
returns table (
    worker_id bigint,
    host text,
    version text,
    provider text,
    model text,
    prompt_version text,
    embedding_models text[],
    started_at timestamptz,
    seen_at timestamptz,
    is_alive boolean
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        worker.worker_id, worker.host, worker.version, worker.provider, worker.model, worker.prompt_version,
        worker.embedding_models, worker.started_at, worker.seen_at,
        worker.worker_id in (select living.worker_id from pgclarify_private.living_workers() as living)
    from pgclarify_private.worker
    -- For callers, an evaluation is not a worker.
    where worker.is_serving;
end;

comment on function pgclarify_private.worker_statuses() is 'Rows of view worker_status.';
grant execute on function pgclarify_private.worker_statuses() to pgclarify_reader;

create or replace view pgclarify.worker_status as
select status.*
from pgclarify_private.worker_statuses() as status;

comment on view pgclarify.worker_status is 'Worker processes, living and dead.';
comment on column pgclarify.worker_status.worker_id is 'Key.';
comment on column pgclarify.worker_status.is_alive is 'True while its session is there and its heartbeat is within its lease.';
grant select on pgclarify.worker_status to pgclarify_reader;
