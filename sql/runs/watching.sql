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

create or replace function pgclarify_private.set_priority(job_ids bigint[], old_priority integer, new_priority integer)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_queue.procrastinate_jobs as job
    set priority = set_priority.new_priority
    where job.id = any(array(
        select waiting.id
        from pgclarify_queue.procrastinate_jobs as waiting
        where waiting.id = any(set_priority.job_ids)
            and waiting.status = 'todo'
            and waiting.priority = set_priority.old_priority
        for update skip locked
    ));
end;

comment on function pgclarify_private.set_priority(bigint[], integer, integer) is
'Change the priority of queued jobs that have the old one, except those that another transaction has locked.';

create or replace function pgclarify_private.follow_watchers(run_ids bigint[])
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The first plan may be made for an empty queue, and is kept.
set enable_seqscan = off
as $$
declare
    -- The most jobs that one call reads or changes.
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
    -- Runs with a queued job that goes first already.
    v_raised bigint[];
    -- A list, because a plan that joins jobs with jobs may compare each with each.
    v_job_ids bigint[];
begin
    -- Only jobs of the queue change. Take none that a worker takes at the moment. A worker that looks for jobs at this moment
    -- skips the job; it finds the job when it next asks for due work.
    select
        coalesce(array_agg(first.run_id), '{}'),
        coalesce(array_agg(first.id) filter (where first.run_id <> all(v_watched)), '{}')
    into v_raised, v_job_ids
    from (
        select waiting.id, (waiting.args ->> 'run_id')::bigint as run_id
        from pgclarify_queue.procrastinate_jobs as waiting
        where waiting.status = 'todo' and waiting.priority = pgclarify_private.waited_for_priority()
        order by waiting.id
        limit v_most
    ) as first;
    perform pgclarify_private.set_priority(
        v_job_ids, pgclarify_private.waited_for_priority(), pgclarify_private.single_priority()
    );
    -- Jobs have no index over their runs, so look through those that were submitted last. Most callers wait for such a run.
    if exists (
        select
        from pgclarify_private.run
        where run.run_id = any(v_watched) and run.status = 'queued' and run.run_id <> all(v_raised)
    ) then
        v_job_ids := array(
            select latest.id
            from (
                select waiting.id, (waiting.args ->> 'run_id')::bigint as run_id
                from pgclarify_queue.procrastinate_jobs as waiting
                where waiting.status = 'todo' and waiting.priority = pgclarify_private.single_priority()
                order by waiting.id desc
                limit v_most
            ) as latest
            where latest.run_id = any(v_watched)
        );
        perform pgclarify_private.set_priority(
            v_job_ids, pgclarify_private.single_priority(), pgclarify_private.waited_for_priority()
        );
    end if;
    return array(select unnest(follow_watchers.run_ids) intersect select unnest(v_watched));
end
$$;

comment on function pgclarify_private.follow_watchers(bigint[]) is
'Give queued runs that were asked alone the highest priority while a session waits for them, and the priority of a submitted '
'run otherwise: also if their call has timed out, or its session was terminated. Runs of a batch keep theirs. Returns those '
'of the given runs that a session waits for now.';
grant execute on function pgclarify_private.follow_watchers(bigint[]) to pgclarify_worker;
