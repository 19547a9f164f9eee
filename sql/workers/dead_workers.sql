-- When a worker dies during a run, this puts its jobs back into the queue. Another worker then takes the run over as a new
-- attempt, which runs/attempt.sql distinguishes from the old one. ledger/claiming.sql takes over the leases of its calls.

create or replace function pgclarify_private.requeue_lost_jobs(worker_id bigint)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The first plan may be made for an empty queue, and is kept.
set enable_seqscan = off
as $$
declare
    -- The most jobs of a kind that one call changes.
    v_most constant integer := 1000;
    v_job record;
    v_run_ids bigint[];
    v_count integer := 0;
    v_living bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
begin
    -- A worker that was suspended would treat its own runs as those of a dead worker.
    if requeue_lost_jobs.worker_id <> all(v_living) then
        return 0;
    end if;
    -- A job in progress belongs to a worker of the queue. If that worker is unknown, or our worker behind it is dead, the job
    -- goes back into the queue.
    for v_job in
        select job.id, (job.args ->> 'run_id')::bigint as run_id
        from pgclarify_queue.procrastinate_jobs as job
        where job.status = 'doing'
            and not exists (
                select from pgclarify_private.worker
                where worker.queue_worker_id = job.worker_id and worker.worker_id = any(v_living)
            )
            -- A worker that has just started has not reported its id in the queue yet.
            and not exists (
                select from pgclarify_queue.procrastinate_workers as queue_worker
                where queue_worker.id = job.worker_id
                    and queue_worker.last_heartbeat > now() - interval '15 seconds'
                    and not exists (
                        select from pgclarify_private.worker as known where known.queue_worker_id = queue_worker.id
                    )
            )
        order by job.id
        limit v_most
        for update of job skip locked
    loop
        begin
            -- The run is queued again. So the dead worker cannot write any more, even if it wakes up, and a crash of the next
            -- worker counts only after that worker has started the run.
            update pgclarify_private.run
            set
                status = 'queued',
                crashes = case
                    when exists (
                        select
                        from pgclarify_private.completion
                        where completion.run_id = run.run_id and completion.finished_at >= run.started_at
                    ) then 0
                    else run.crashes + 1
                end
            where run.run_id in (
                select locked.run_id
                from pgclarify_private.run as locked
                where locked.run_id = v_job.run_id and locked.status = 'running' and locked.worker_id <> all(v_living)
                for update nowait
            );
        exception
            -- Another session has locked the run; the next call tries again.
            when lock_not_available then
                continue;
        end;
        perform pgclarify_queue.procrastinate_retry_job_v2(v_job.id, now(), null, null, null);
        v_count := v_count + 1;
    end loop;

    -- Retry a failed job whose run is not over and that no live worker executes; remove a failed job whose run is over.
    for v_job in
        select failed.id, unfinished.run_id is not null as is_unfinished
        from (
            select job.id, (job.args ->> 'run_id')::bigint as run_id
            from pgclarify_queue.procrastinate_jobs as job
            where job.status = 'failed'
            order by job.id
            limit v_most
            for update skip locked
        ) as failed
        left join lateral (
            select run.run_id, run.status = 'queued' or run.worker_id <> all(v_living) as is_free
            from pgclarify_private.run
            where run.run_id = failed.run_id and run.status in ('queued', 'running')
        ) as unfinished on true
        where unfinished.run_id is null or unfinished.is_free
    loop
        if v_job.is_unfinished then
            perform pgclarify_queue.procrastinate_retry_job_v2(v_job.id, now() + interval '2 seconds', null, null, null);
            v_count := v_count + 1;
        else
            delete from pgclarify_queue.procrastinate_jobs as job where job.id = v_job.id;
        end if;
    end loop;

    -- A run of a dead worker whose job no longer exists.
    v_run_ids := array(
        select orphan.run_id
        from pgclarify_private.run as orphan
        where orphan.status = 'running'
            and orphan.worker_id <> all(v_living)
            and orphan.started_at < now() - interval '2 minutes'
        order by orphan.run_id
        limit v_most
        for update skip locked
    );
    if cardinality(v_run_ids) > 0 then
        -- This reads the whole queue, but few runs get here.
        v_run_ids := array(
            select unnest(v_run_ids)
            except
            select (job.args ->> 'run_id')::bigint from pgclarify_queue.procrastinate_jobs as job
        );
    end if;
    if cardinality(v_run_ids) > 0 then
        -- Queue it, or another worker would find it, too.
        update pgclarify_private.run set status = 'queued' where run.run_id = any(v_run_ids);
        -- Whether it belonged to a batch is not known any more. There are few such runs, and they have waited once already.
        perform pgclarify_private.defer_runs(v_run_ids, pgclarify_private.single_priority());
    end if;
    return v_count + cardinality(v_run_ids);
end
$$;

comment on function pgclarify_private.requeue_lost_jobs(bigint) is
'Put jobs of dead workers, and failed jobs whose runs are not over, back into the queue; returns how many. A run whose '
'worker was lost counts one crash more; if the attempt has stored a reply, its crashes are 0 again. worker_id: the caller; a '
'worker that counts as dead puts nothing back. One call changes at most 1,000 jobs of each kind.';
grant execute on function pgclarify_private.requeue_lost_jobs(bigint) to pgclarify_worker;
