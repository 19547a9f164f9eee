-- Runs that a session waits for, in the call that asked or later. They go before all others for as long as the session waits.

create or replace function pgclarify_private.watch_key(run_id bigint)
returns bigint
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select (1885823095::bigint << 32) + watch_key.run_id;
end;

comment on function pgclarify_private.watch_key(bigint) is
'The key of the advisory lock that a session holds while it waits for a run.';

create or replace function pgclarify_private.watch_run(run_id bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held bigint[] := array(
        select held.run_id from pgclarify_private.watch_locks() as held where held.process_id = pg_backend_pid()
    );
begin
    -- One run for each session: so a program that submits many runs, and asks for one after the other, does not raise them all.
    perform pg_advisory_unlock_shared(pgclarify_private.watch_key(held.run_id))
    from unnest(v_held) as held (run_id)
    where held.run_id is distinct from watch_run.run_id;
    if watch_run.run_id <> all(v_held) then
        -- It does not wait, because any role can take the lock.
        perform pg_try_advisory_lock_shared(pgclarify_private.watch_key(watch_run.run_id));
    end if;
end
$$;

comment on function pgclarify_private.watch_run(bigint) is
'Note that this session waits for a run, until it waits for another one or ends; for null, that it waits for none. An advisory '
'lock holds the note: workers see it at once, although the transaction of the caller is open. Workers do not see the locks of '
'a standby.';

create or replace function pgclarify_private.watch_locks()
returns table (run_id bigint, process_id integer)
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    -- PostgreSQL shows the upper half of a key as classid, and the lower half as objid.
    select ((held.classid::bigint - 1885823095) << 32) + held.objid::bigint, held.pid
    from pg_catalog.pg_locks as held
    where held.locktype = 'advisory'
        and held.objsubid = 1
        and held.granted
        and held.mode = 'ShareLock'
        and held.classid::bigint between 1885823095 and 1885823095 + 1023
        and held.database = (
            select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database()
        );
end;

comment on function pgclarify_private.watch_locks() is
'The runs that sessions wait for, as watch_run notes them; they may be over.';

create or replace function pgclarify_private.follow_watchers(run_ids bigint[])
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The first plan may be made for an empty queue, and is kept.
set enable_seqscan = off
set jit = off
set plan_cache_mode = 'force_generic_plan'
as $$
declare
    -- The most runs that one call reads or changes.
    v_most constant integer := 10000;
    -- One for each session, also if a role takes such locks by itself.
    v_locked constant bigint[] := array(
        select min(held.run_id) from pgclarify_private.watch_locks() as held group by held.process_id
    );
    v_watched constant bigint[] := array(
        select run.run_id
        from pgclarify_private.run
        where run.run_id = any(v_locked) and run.status in ('queued', 'running')
    );
    v_changed bigint[];
begin
    -- Take none that a worker takes at the moment. A worker that looks for runs at this moment skips the run; it finds the run
    -- when it next asks for due work.
    v_changed := array(
        select run.run_id
        from pgclarify_private.run
        where run.run_id = any(v_watched) and run.status = 'queued' and run.priority = pgclarify_private.single_priority()
        for no key update skip locked
    );
    update pgclarify_private.run set priority = pgclarify_private.waited_for_priority() where run.run_id = any(v_changed);
    v_changed := array(
        select run.run_id
        from pgclarify_private.run
        where run.status = 'queued'
            and run.priority = pgclarify_private.waited_for_priority()
            and run.run_id <> all(v_watched)
        order by run.run_id
        limit v_most
        for no key update skip locked
    );
    update pgclarify_private.run set priority = pgclarify_private.single_priority() where run.run_id = any(v_changed);
    return array(select unnest(follow_watchers.run_ids) intersect select unnest(v_watched));
end
$$;

comment on function pgclarify_private.follow_watchers(bigint[]) is
'Give queued runs that were asked alone the highest priority while a session waits for them, and the priority of a submitted '
'run otherwise: also if their call has timed out, or its session was terminated. Runs of a batch keep theirs. Returns those '
'of the given runs that a session waits for now.';
grant execute on function pgclarify_private.follow_watchers(bigint[]) to pgclarify_worker;
