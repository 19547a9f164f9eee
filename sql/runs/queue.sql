-- The queue is the table run itself: a queued run waits for a worker, and a running run has one.

create or replace function pgclarify_private.waited_for_priority()
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select 10;
end;

comment on function pgclarify_private.waited_for_priority() is
'The priority of a run that a caller waits for. Workers reserve room for such runs, and make their calls first.';

create or replace function pgclarify_private.single_priority()
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select 5;
end;

comment on function pgclarify_private.single_priority() is
'The priority of a run that was submitted alone. It goes before the runs of a batch, which have priority 0.';

create or replace function pgclarify_private.notify_workers()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Any role may fill the queue of notifications, by a transaction that stays open after LISTEN. Then NOTIFY fails, at
    -- COMMIT, where no function can catch the error.
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('pgclarify_runs', '');
    end if;
end
$$;

comment on function pgclarify_private.notify_workers() is
'Wake the workers, unless the queue of notifications is half full. Then they find new runs by polling (due_work).';

create or replace function pgclarify_private.documents_to_wait_for(corpus_id bigint)
returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select waiting.documents
    from pgclarify_private.corpus_count as counted
    cross join lateral (
        select count(*) as documents from pgclarify_private.pending_document as pending
        where pending.corpus_id = counted.corpus_id
    ) as waiting
    where counted.corpus_id = documents_to_wait_for.corpus_id
        and counted.passages = 0
        and (
            waiting.documents > 0
            or exists (
                select
                from pgclarify_private.source
                where source.corpus_id = counted.corpus_id and source.state = 'loading' and source.error is null
            )
        )
        -- Other roles must not learn that documents were added which are not for everyone.
        and counted.restricted_documents = 0
        -- A worker that cannot use the model indexes nothing. Then the run must fail with this error.
        and not exists (
            select
            from pgclarify_private.embedding_space as space
            where space.corpus_id = counted.corpus_id and space.state <> 'retired' and space.error is not null
        );
end;

comment on function pgclarify_private.documents_to_wait_for(bigint) is
'How many documents of a corpus wait to be indexed, if a search can find nothing yet: no passage is indexed, no error stops '
'the workers, and no document has its own readers. 0 if an attached table is being loaded. Else null.';

create or replace function pgclarify_private.tell_unindexed(corpus_id bigint, requester name)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- More are not counted: a notice should cost no more than the search.
    v_most constant integer := 1000;
    v_roles name[];
    v_name text;
    v_waiting bigint;
begin
    if not exists (
        select from pgclarify_private.pending_document as pending where pending.corpus_id = tell_unindexed.corpus_id
    ) then
        return;
    end if;
    v_roles := pgclarify_private.roles_of(tell_unindexed.requester);
    select corpus.name, waiting.documents into v_name, v_waiting
    from pgclarify_private.living_corpus as corpus
    inner join pgclarify_private.corpus_count as counted on corpus.corpus_id = counted.corpus_id
    cross join lateral (
        select count(*) as documents
        from (
            select from pgclarify_private.pending_document as pending
            where pending.corpus_id = corpus.corpus_id
            limit v_most + 1
        ) as pending
    ) as waiting
    where
        corpus.corpus_id = tell_unindexed.corpus_id
        -- Other roles must not learn that documents were added which are not for them: see view corpus.
        and (
            pgclarify_private.may_see_all(corpus.owner, corpus.owner_oid, corpus.analysts, v_roles)
            or counted.restricted_documents = 0
            and pgclarify_private.fence_of(corpus.corpus_id, v_roles) is null
        );
    if v_waiting > 0 then
        raise notice 'corpus "%" is still being indexed', v_name
            using detail = case
                    when v_waiting > v_most then format('More than %s documents wait.', to_char(v_most, 'FM999,999'))
                    when v_waiting = 1 then 'One document waits.'
                    else format('%s documents wait.', v_waiting)
                end,
                hint = 'What they say now is not found yet: see pending in view pgclarify.corpus.';
    end if;
end
$$;

comment on function pgclarify_private.tell_unindexed(bigint, name) is
'A notice if documents of a corpus wait to be indexed and this role may know it.';

create or replace function pgclarify_private.take_run(worker_id bigint, only_waited_for boolean)
returns table (
    run_id bigint,
    is_waited_for boolean,
    is_of_batch boolean,
    must_be_alone boolean,
    attempt integer,
    operation text,
    question text,
    settings jsonb,
    corpus_id bigint,
    embedding_model text,
    dimensions integer,
    parent_run_id bigint,
    traceparent text,
    error_code text,
    refusal text,
    is_last boolean
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- A batch is queued in one statement. Until the statistics include it, the planner would read and sort the whole batch.
set enable_seqscan = off
set enable_sort = off
set jit = off
as $$
declare
    -- Longest delay of a run that cannot be started now. It is random, so that two workers do not keep colliding on one run.
    v_longest_pause constant interval := '4 seconds';
    -- A run that must be executed alone waits for the other runs of its worker.
    v_lease constant interval := '1 minute';
    v_run record;
    v_run_id bigint;
    v_priority integer;
    -- Corpora of which nothing is indexed yet.
    v_waiting bigint[] := '{}';
    -- Corpora that other transactions have locked. Their owners may keep them locked for long.
    v_locked bigint[] := '{}';
    v_message text;
begin
    -- A worker of an earlier version does not know options and operations that were added since then.
    if not exists (
        select
        from pgclarify_private.worker
        inner join pgclarify_private.applied_sql on worker.schema_hash = applied_sql.shipped_hash
        where worker.worker_id = take_run.worker_id
    ) then
        return;
    end if;
    loop
        select run.run_id, run.priority, run.corpus_id, pgclarify_private.searches(run.operation) as searches
        into v_run
        from pgclarify_private.run
        where run.status = 'queued'
            and run.priority >= case
                when take_run.only_waited_for then pgclarify_private.waited_for_priority() else -2147483648
            end
            and (run.due_at is null or run.due_at <= now())
            and (run.corpus_id <> all(v_waiting) or run.corpus_id is null or not pgclarify_private.searches(run.operation))
            and (run.corpus_id <> all(v_locked) or run.corpus_id is null)
        order by run.priority desc, run.run_id
        limit 1
        for update skip locked;
        if not found then
            -- Only runs of locked corpora are left. The first of them waits for the lock in start_run.
            exit when v_run_id is not null;
            return;
        end if;
        if v_run.searches and pgclarify_private.documents_to_wait_for(v_run.corpus_id) is not null then
            v_waiting := v_waiting || v_run.corpus_id;
            continue;
        end if;
        perform from pgclarify_private.corpus where corpus.corpus_id = v_run.corpus_id for share skip locked;
        if found or v_run.corpus_id is null or v_run_id is null then
            v_run_id := v_run.run_id;
            v_priority := v_run.priority;
        end if;
        exit when found or v_run.corpus_id is null;
        v_locked := v_locked || v_run.corpus_id;
    end loop;
    begin
        return query
        select
            v_run_id, v_priority >= pgclarify_private.waited_for_priority(), v_priority = 0, started.must_be_alone,
            started.attempt, started.operation, started.question, started.settings, started.corpus_id,
            started.embedding_model, started.dimensions, started.parent_run_id, started.traceparent, started.error_code,
            null::text,
            not exists (
                select
                from pgclarify_private.run as other
                where other.status = 'queued' and other.run_id <> v_run_id and (other.due_at is null or other.due_at <= now())
            )
        from pgclarify_private.start_run(v_run_id, take_run.worker_id) as started;
    exception
        when query_canceled or others then
            -- A worker that counts as dead must not delay runs.
            if take_run.worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living) then
                raise;
            end if;
            get stacked diagnostics v_message = message_text;
            update pgclarify_private.run
            set due_at = clock_timestamp() + interval '1 second' + random() * v_longest_pause
            where run.run_id = v_run_id;
            run_id := v_run_id;
            refusal := v_message;
            return next;
            return;
    end;
    update pgclarify_private.run
    set due_at = clock_timestamp() + v_lease
    where run.run_id = v_run_id and run.status = 'queued';
end
$$;

comment on function pgclarify_private.take_run(bigint, boolean) is
'Start the first queued run that is due, by priority and age, and return what start_run returns; no row if there is none, or '
'if the worker works with another schema. '
'only_waited_for: only a run that a caller waits for. Runs that other transactions have locked are left out, and runs that '
'search a corpus of which nothing is indexed yet; runs of a locked corpus come last. If the run cannot be started now, it '
'waits for some seconds, and refusal says why. If it must be executed alone, it stays queued, and no other worker takes it for '
'a minute: call start_run with is_alone meanwhile. is_last: no other run is due.';
grant execute on function pgclarify_private.take_run(bigint, boolean) to pgclarify_worker;

create or replace function pgclarify_private.put_back_run(run_id bigint, attempt integer, pause interval)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.run
    where run.run_id = put_back_run.run_id and run.attempt = put_back_run.attempt and run.status = 'running'
    for no key update nowait;
    if found then
        update pgclarify_private.run
        set status = 'queued', due_at = clock_timestamp() + put_back_run.pause
        where run.run_id = put_back_run.run_id;
    end if;
end
$$;

comment on function pgclarify_private.put_back_run(bigint, integer, interval) is
'Put a run back into the queue, if it is still executed in this attempt. A worker may take it after the pause; null: at once. '
'Error 55P03 if another transaction has locked it.';
grant execute on function pgclarify_private.put_back_run(bigint, integer, interval) to pgclarify_worker;

create or replace function pgclarify_private.requeue_lost_runs(worker_id bigint)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The first plan may be made for an empty queue, and is kept.
set enable_seqscan = off
set jit = off
as $$
declare
    -- The most runs that one call changes.
    v_most constant integer := 1000;
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
    v_count integer;
begin
    -- A worker that was suspended would treat its own runs as those of a dead worker.
    if requeue_lost_runs.worker_id <> all(v_living) then
        return 0;
    end if;
    -- From now on the dead worker cannot write into them, even if it wakes up. Runs that other sessions have locked wait for
    -- the next call.
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
    where run.run_id = any(array(
        select lost.run_id
        from pgclarify_private.run as lost
        where lost.status = 'running' and lost.worker_id <> all(v_living)
        limit v_most
        for update skip locked
    ));
    get diagnostics v_count = row_count;
    return v_count;
end
$$;

comment on function pgclarify_private.requeue_lost_runs(bigint) is
'Put runs of dead workers back into the queue, at most 1,000 a call; returns how many. Each counts one crash more; if its '
'attempt has stored a reply, its crashes are 0 again. worker_id: the caller; a worker that counts as dead puts nothing back.';
grant execute on function pgclarify_private.requeue_lost_runs(bigint) to pgclarify_worker;
