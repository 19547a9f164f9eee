-- Batches: calls that runs leave to the endpoint's batch API, which answers within a day at half the price. A run waits in the
-- queue, with due_at infinity, until its calls are over. Then it starts again and finds the replies in the ledger.

create or replace function pgclarify_private.wait_for_batch(run_id bigint, attempt integer, calls jsonb)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.lock_run(wait_for_batch.run_id, wait_for_batch.attempt);
    v_calls constant pgclarify_private.model_call[] := pgclarify_private.read_calls(wait_for_batch.calls, v_run.run_id, null);
begin
    -- A run waits for one batch only. Otherwise a corpus that changes every day could make it wait for ever.
    if exists (select from pgclarify_private.batch_request as known where known.run_id = v_run.run_id) then
        return false;
    end if;
    insert into pgclarify_private.completion (
        purpose, model, parameters, prompt_version, input_hash, sample, run_id
    )
    select distinct
        asked.purpose, asked.model, asked.parameters, asked.prompt_version, asked.input_hash, asked.sample, v_run.run_id
    from unnest(v_calls) as asked
    -- In the same order as claims, to avoid deadlocks.
    order by 1, 2, 3, 4, 5, 6
    on conflict on constraint completion_purpose_model_parameters_prompt_version_input_ha_key do nothing;
    perform pgclarify_private.note_documents(v_calls, v_run.corpus_id);
    insert into pgclarify_private.batch_request (
        run_id, completion_id, model, request, input_bytes, max_output_tokens
    )
    select v_run.run_id, known.completion_id, asked.model, asked.request, asked.input_bytes, asked.max_output_tokens
    from unnest(v_calls) as asked
    inner join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where known.finished_at is null
    on conflict on constraint batch_request_pk do nothing;
    if not found then
        return false;
    end if;
    update pgclarify_private.run set status = 'queued', due_at = 'infinity' where run.run_id = v_run.run_id;
    return true;
end
$$;

comment on function pgclarify_private.wait_for_batch(bigint, integer, jsonb) is
'Leave the calls of a run that have no reply to a batch, and put the run back until they are over. False if it must go on: '
'all have a reply, or it has waited for a batch before. calls: as in read_calls, with the body of each in request.';
grant execute on function pgclarify_private.wait_for_batch(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.longest_batch()
returns interval
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select interval '26 hours';
end;

comment on function pgclarify_private.longest_batch() is 'How long a batch is waited for: more than the day that it may take.';

create or replace function pgclarify_private.close_batch(batch_id uuid, again_after interval, is_read boolean)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with noted as (
        insert into pgclarify_private.unanswered_call (completion_id, run_id, sent_at, cost_usd, budget_ids, counted_at)
        select
            sent.completion_id, sent.run_id, batch.sent_at, sent.reserved_usd, sent.budget_ids, sent.reserved_at
        from pgclarify_private.batch_request as sent
        inner join pgclarify_private.batch on batch.batch_id = sent.batch_id
        where
            batch.batch_id = close_batch.batch_id
            and batch.sent_at is not null
            and not sent.is_over
            and not close_batch.is_read
        returning unanswered_call.unanswered_call_id
    )
    select pgclarify_private.count_unanswered(array_agg(noted.unanswered_call_id)) from noted;
    update pgclarify_private.batch_request as request
    set
        batch_id = null,
        is_over = request.is_over or left_over.is_late,
        request = case when not left_over.is_late then request.request end,
        ready_at = clock_timestamp() + coalesce(close_batch.again_after, '0'),
        budget_ids = null,
        reserved_usd = null,
        reserved_at = null
    from (
        select
            mine.run_id,
            mine.completion_id,
            close_batch.again_after is null
            or run.created_at < clock_timestamp() - pgclarify_private.longest_batch() as is_late
        from pgclarify_private.batch_request as mine
        inner join pgclarify_private.run on run.run_id = mine.run_id
        where mine.batch_id = close_batch.batch_id
    ) as left_over
    where request.run_id = left_over.run_id and request.completion_id = left_over.completion_id;
    delete from pgclarify_private.batch where batch.batch_id = close_batch.batch_id;
end;

comment on function pgclarify_private.close_batch(uuid, interval, boolean) is
'Delete a batch. again_after: when its calls without a reply may be put into another batch, unless their runs have waited for '
'more than a day; null if their runs make them. is_read: the endpoint charges nothing for its calls without a reply, because '
'its replies were read. If they were not, these calls count.';

create or replace function pgclarify_private.tidy_batches()
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- For replies that no worker has read.
    v_longest_stay constant interval := '7 days';
    -- Longer than a worker needs to start again.
    v_longest_absence constant interval := '10 minutes';
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
begin
    -- The same lock as in gather_batch, because both change requests of any batch.
    lock table pgclarify_private.batch in share row exclusive mode;
    -- No worker serves its endpoint any more, or it was never sent, and no run waits for it: it must hold no budget.
    perform pgclarify_private.close_batch(lost.batch_id, null, false)
    from (
        select batch.batch_id
        from pgclarify_private.batch
        where
            (
                batch.created_at < clock_timestamp() - pgclarify_private.longest_batch()
                and not exists (
                    select from pgclarify_private.serving_workers() as serving where serving.model = batch.model
                )
                or batch.created_at < clock_timestamp() - v_longest_stay
                or batch.sent_at is null and not exists (
                    select from pgclarify_private.batch_request as request
                    inner join pgclarify_private.run on request.run_id = run.run_id
                    where request.batch_id = batch.batch_id and run.finished_at is null
                )
            )
            and (batch.leased_by is null or batch.leased_until < clock_timestamp() or batch.leased_by <> all(v_living))
        for update skip locked
    ) as lost;
    delete from pgclarify_private.batch_request as request
    using pgclarify_private.run
    where request.batch_id is null and run.run_id = request.run_id and run.finished_at is not null;
    update pgclarify_private.batch_request as request
    set is_over = true, request = null
    where
        request.batch_id is null
        and not request.is_over
        and (
            -- It was erased with a document.
            request.request is null
            or exists (
                select from pgclarify_private.completion
                where completion.completion_id = request.completion_id and completion.finished_at is not null
            )
            -- No worker serves its model any more: the run asks another one.
            or request.ready_at < clock_timestamp() - v_longest_absence
            and not exists (
                select from pgclarify_private.serving_workers() as serving where serving.model = request.model
            )
        );
    update pgclarify_private.run
    set due_at = null
    where run.run_id = any(array(
        select waiting.run_id
        from pgclarify_private.run as waiting
        where
            waiting.status = 'queued'
            and waiting.due_at = 'infinity'
            and not exists (
                select from pgclarify_private.batch_request as request
                where request.run_id = waiting.run_id and not request.is_over
            )
        for no key update skip locked
    ));
    if found then
        perform pgclarify_private.notify_workers();
    end if;
end
$$;

comment on function pgclarify_private.tidy_batches() is
'Forget calls of runs that have ended, note which calls are over, and wake the runs that wait for no other call. A run that '
'another transaction has locked is woken the next time. Workers without a batch API call it, too, so that runs do not wait for '
'one that has gone.';
grant execute on function pgclarify_private.tidy_batches() to pgclarify_worker;

create or replace function pgclarify_private.claim_batch(worker_id bigint, model text, endpoint text, lease interval)
returns table (batch_id uuid, remote_id text, age interval, is_wanted boolean)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    update pgclarify_private.batch
    set leased_by = claim_batch.worker_id, leased_until = clock_timestamp() + claim_batch.lease
    where
        batch.batch_id = (
            select due.batch_id
            from pgclarify_private.batch as due
            where
                due.model = claim_batch.model
                and due.endpoint = claim_batch.endpoint
                and due.due_at <= clock_timestamp()
                and (
                    due.leased_by is null
                    or due.leased_until < clock_timestamp()
                    -- A worker works on one at a time, so an error has ended its work on this one.
                    or due.leased_by = claim_batch.worker_id
                    or due.leased_by not in (
                        select living.worker_id from pgclarify_private.living_workers() as living
                    )
                )
            order by due.due_at
            limit 1
            for update skip locked
        )
    returning
        batch.batch_id,
        batch.remote_id,
        clock_timestamp() - batch.created_at,
        exists (
            select
            from pgclarify_private.batch_request as mine
            inner join pgclarify_private.batch_request as other on other.completion_id = mine.completion_id
            inner join pgclarify_private.run on run.run_id = other.run_id
            where mine.batch_id = batch.batch_id and not other.is_over and run.finished_at is null
        );
end;

comment on function pgclarify_private.claim_batch(bigint, text, text, interval) is
'Lease a batch of this model and endpoint that is due: to send it if it has no remote_id, or to see whether it was answered. '
'No row if there is none. is_wanted: whether a run still waits for one of its calls.';
grant execute on function pgclarify_private.claim_batch(bigint, text, text, interval) to pgclarify_worker;

create or replace function pgclarify_private.lock_batch(worker_id bigint, batch_id uuid)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Before any of its rows, because gather_batch locks the table first.
    lock table pgclarify_private.batch in row exclusive mode;
    perform from pgclarify_private.batch
    where batch.batch_id = lock_batch.batch_id and batch.leased_by = lock_batch.worker_id
    for update;
    if not found then
        raise exception 'batch % is another worker''s', lock_batch.batch_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'Its lease has expired, and another worker has taken it over.',
                hint = 'Stop working on it.';
    end if;
end
$$;

comment on function pgclarify_private.lock_batch(bigint, uuid) is
'Lock a batch that this worker has leased, or error 55000.';

create or replace function pgclarify_private.batch_requests(worker_id bigint, batch_id uuid)
returns table (completion_id bigint, request text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.lock_batch(batch_requests.worker_id, batch_requests.batch_id);
    -- If the worker is killed, the endpoint may have the batch although its id there is not stored.
    update pgclarify_private.batch set sent_at = clock_timestamp() where batch.batch_id = batch_requests.batch_id;
    return query
    select waiting.completion_id, waiting.request
    from pgclarify_private.batch_request as waiting
    where
        waiting.batch_id = batch_requests.batch_id
        and waiting.request is not null
        and exists (
            select from pgclarify_private.completion
            where completion.completion_id = waiting.completion_id and completion.finished_at is null
        )
    order by waiting.completion_id;
end
$$;

comment on function pgclarify_private.batch_requests(bigint, uuid) is
'The calls of a batch that have no reply yet, to be sent now: their bodies.';
grant execute on function pgclarify_private.batch_requests(bigint, uuid) to pgclarify_worker;

create or replace function pgclarify_private.put_back_batch(
    worker_id bigint, batch_id uuid, remote_id text, pause interval
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.lock_batch(put_back_batch.worker_id, put_back_batch.batch_id);
    update pgclarify_private.batch
    set
        remote_id = coalesce(put_back_batch.remote_id, batch.remote_id),
        leased_by = null,
        leased_until = null,
        due_at = clock_timestamp() + put_back_batch.pause
    where batch.batch_id = put_back_batch.batch_id;
end
$$;

comment on function pgclarify_private.put_back_batch(bigint, uuid, text, interval) is
'Release a batch until its next look, in pause. remote_id: its id at the endpoint; null leaves it.';
grant execute on function pgclarify_private.put_back_batch(bigint, uuid, text, interval) to pgclarify_worker;

create or replace function pgclarify_private.store_batch(worker_id bigint, batch_id uuid, completions jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_until constant timestamptz := clock_timestamp();
    v_completion_ids bigint[];
    v_completions jsonb;
    v_unanswered bigint[];
begin
    perform pgclarify_private.lock_batch(store_batch.worker_id, store_batch.batch_id);
    select
        coalesce(array_agg(request.completion_id), '{}'),
        coalesce(
            jsonb_agg(
                said.completion
                -- The endpoint does not tell how long a call took.
                || jsonb_build_object(
                    'run_id', request.run_id, 'leased_until', v_until, 'latency_ms', null, 'is_batched', true
                )
            ),
            '[]'
        )
    into v_completion_ids, v_completions
    from (
        select distinct on (1) (one.completion -> 'completion_id')::bigint as completion_id, one.completion
        from jsonb_array_elements(store_batch.completions) as one (completion)
    ) as said
    -- A reply that was stored before a worker was killed is in the batch no more.
    inner join pgclarify_private.batch_request as request
        on request.completion_id = said.completion_id
        and request.batch_id = store_batch.batch_id
        and not request.is_over;
    -- A run that is not for a batch is making some of the calls, too. Its replies will come second.
    v_unanswered := pgclarify_private.note_unanswered(
        array(
            select locked.completion_id
            from pgclarify_private.completion as locked
            where locked.completion_id = any(v_completion_ids) and locked.sent_at is not null
            -- In the same order as claims, to avoid deadlocks.
            order by
                locked.purpose, locked.model, locked.parameters, locked.prompt_version, locked.input_hash, locked.sample
            for no key update
        )
    );
    -- The reservations go to the ledger, which settles them.
    update pgclarify_private.completion
    set
        sent_at = null,
        run_id = request.run_id,
        leased_by = store_batch.worker_id,
        leased_until = v_until,
        budget_ids = request.budget_ids,
        reserved_usd = request.reserved_usd,
        reserved_at = request.reserved_at
    from (
        select locked.completion_id
        from pgclarify_private.completion as locked
        where locked.completion_id = any(v_completion_ids) and locked.finished_at is null
        -- In the same order as claims, to avoid deadlocks.
        order by
            locked.purpose, locked.model, locked.parameters, locked.prompt_version, locked.input_hash, locked.sample
        for no key update
    ) as unanswered
    inner join pgclarify_private.batch_request as request
        on request.completion_id = unanswered.completion_id and request.batch_id = store_batch.batch_id
    where completion.completion_id = unanswered.completion_id;
    perform pgclarify_private.store_completions(store_batch.worker_id, v_completions);
    if v_unanswered is not null then
        perform pgclarify_private.count_unanswered(v_unanswered);
    end if;
    update pgclarify_private.batch_request as request
    set is_over = true, request = null, budget_ids = null, reserved_usd = null, reserved_at = null
    where request.batch_id = store_batch.batch_id and request.completion_id = any(v_completion_ids);
end
$$;

comment on function pgclarify_private.store_batch(bigint, uuid, jsonb) is
'Store replies of a batch in the ledger, at half the price, each once. completions: as in store_completions, without run_id, '
'leased_until and is_batched.';
grant execute on function pgclarify_private.store_batch(bigint, uuid, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.end_batch(
    worker_id bigint, batch_id uuid, again_after interval, is_read boolean default true
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Before the lock on its row: see tidy_batches.
    lock table pgclarify_private.batch in share row exclusive mode;
    perform pgclarify_private.lock_batch(end_batch.worker_id, end_batch.batch_id);
    perform pgclarify_private.close_batch(end_batch.batch_id, end_batch.again_after, end_batch.is_read);
    perform pgclarify_private.tidy_batches();
end
$$;

comment on function pgclarify_private.end_batch(bigint, uuid, interval, boolean) is
'End a batch, and wake its runs. again_after: when its calls without a reply may be put into another batch; null if their runs '
'make them one by one. is_read: as in close_batch.';
grant execute on function pgclarify_private.end_batch(bigint, uuid, interval, boolean) to pgclarify_worker;
