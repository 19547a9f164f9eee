-- A worker dies in the middle of a run. Its jobs are lost, and go back into the queue here. Another worker then takes the run
-- over: that is a new attempt, which runs/attempt.sql tells from the old one, and leases of calls are taken over in
-- ledger/claiming.sql.

create or replace function pgclarify_private.requeue_lost_jobs(worker_id bigint)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_job record;
    v_job_id bigint;
    v_run_ids bigint[];
    v_count integer := 0;
    v_living bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
begin
    -- One that has just been woken would take its own runs for those of a dead worker.
    if requeue_lost_jobs.worker_id <> all(v_living) then
        return 0;
    end if;
    -- A job in hand belongs to a worker of the queue; if that one is unknown, or ours behind it is dead, it goes back.
    for v_job in
        select job.id, (job.args ->> 'run_id')::bigint as run_id
        from pgclarify_queue.procrastinate_jobs as job
        where job.status = 'doing'
            and not exists (
                select from pgclarify_private.worker
                where worker.queue_worker_id = job.worker_id and worker.worker_id = any(v_living)
            )
            -- A worker that has only just started has not said yet what the queue calls it.
            and not exists (
                select from pgclarify_queue.procrastinate_workers as queue_worker
                where queue_worker.id = job.worker_id
                    and queue_worker.last_heartbeat > now() - interval '15 seconds'
                    and not exists (
                        select from pgclarify_private.worker as known where known.queue_worker_id = queue_worker.id
                    )
            )
        order by job.id
        for update of job skip locked
    loop
        begin
            -- Queued, so that the dead worker, should it wake, can write nothing any more, and so that no crash of the next
            -- worker is counted before that one has started the run.
            update pgclarify.run
            set
                status = 'queued',
                crashes = case
                    when exists (
                        select
                        from pgclarify.completion
                        where completion.run_id = run.run_id and completion.finished_at >= run.started_at
                    ) then 0
                    else run.crashes + 1
                end
            where run.run_id in (
                select locked.run_id
                from pgclarify.run as locked
                where locked.run_id = v_job.run_id and locked.status = 'running' and locked.worker_id <> all(v_living)
                for update nowait
            );
        exception
            -- The next time, when that session has let go of it.
            when lock_not_available then
                continue;
        end;
        perform pgclarify_queue.procrastinate_retry_job_v2(v_job.id, now(), null, null, null);
        v_count := v_count + 1;
    end loop;

    -- A job that failed although its run is not over, and that nobody living carries out, is tried again.
    for v_job_id in
        select job.id
        from pgclarify_queue.procrastinate_jobs as job
        inner join pgclarify.run on run.run_id = (job.args ->> 'run_id')::bigint
        where job.status = 'failed'
            and (run.status = 'queued' or run.status = 'running' and run.worker_id <> all(v_living))
        for update of job skip locked
    loop
        perform pgclarify_queue.procrastinate_retry_job_v2(v_job_id, now() + interval '2 seconds', null, null, null);
        v_count := v_count + 1;
    end loop;
    delete from pgclarify_queue.procrastinate_jobs as job
    where job.status = 'failed'
        and not exists (
            select from pgclarify.run
            where run.run_id = (job.args ->> 'run_id')::bigint and run.status in ('queued', 'running')
        );

    -- A run of a dead worker whose job has gone for good.
    v_run_ids := array(
        select orphan.run_id
        from pgclarify.run as orphan
        where orphan.status = 'running'
            and orphan.worker_id <> all(v_living)
            and orphan.started_at < now() - interval '2 minutes'
            and orphan.run_id not in (
                select (job.args ->> 'run_id')::bigint from pgclarify_queue.procrastinate_jobs as job
            )
        for update skip locked
    );
    if cardinality(v_run_ids) > 0 then
        -- Queued again, or another worker would find them, too.
        update pgclarify.run set status = 'queued' where run.run_id = any(v_run_ids);
        perform pgclarify_private.defer_runs(v_run_ids, 0);
    end if;
    return v_count + cardinality(v_run_ids);
end
$$;

comment on function pgclarify_private.requeue_lost_jobs(bigint) is
'Put jobs of dead workers, and failed ones whose runs are not over, back into the queue; returns how many. A run whose worker '
'was lost counts one crash more, unless the attempt has stored a reply: then it counts none. worker_id: who calls; a worker '
'that counts as dead itself puts nothing back.';
grant execute on function pgclarify_private.requeue_lost_jobs(bigint) to pgclarify_worker;
