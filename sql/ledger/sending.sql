-- From the claim of a call to its reply: which calls were sent. An endpoint may charge for a call from its first byte on,
-- whatever becomes of the worker and the run. So a call is noted as sent before it is sent. If no reply comes, it becomes a row
-- of unanswered_call, and counts in its budgets as the most that it may cost. It is given back only if it was never sent, or if
-- the endpoint's answer proves that it charged nothing.

create or replace function pgclarify_private.note_sent(
    worker_id bigint, completion_ids bigint[], leases timestamptz[], lease interval
)
returns table (completion_id bigint, is_ours boolean, leased_until timestamptz)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
rows 10
-- As in claim_completions.
set enable_seqscan = off
set jit = off
begin atomic
    with given as materialized (
        select sent.completion_id, sent.leased_until
        from unnest(note_sent.completion_ids, note_sent.leases) as sent (completion_id, leased_until)
        -- The calls of a worker that does not count as alive may be claimed by others.
        where note_sent.worker_id in (select living.worker_id from pgclarify_private.living_workers() as living)
    ),
    free as (
        select locked.completion_id
        from given
        inner join pgclarify_private.completion as locked
            on given.completion_id = locked.completion_id
            and locked.leased_by = note_sent.worker_id
            and given.leased_until = locked.leased_until
        -- In the same order as claims, to avoid deadlocks.
        order by
            locked.purpose, locked.model, locked.parameters, locked.prompt_version, locked.input_hash, locked.sample
        -- A call that another session has locked must not stop the others.
        for no key update of locked skip locked
    ),
    noted as (
        update pgclarify_private.completion
        set sent_at = clock_timestamp(), leased_until = clock_timestamp() + note_sent.lease
        from free
        where completion.completion_id = free.completion_id
        returning completion.completion_id, completion.leased_until
    )
    select
        asked.completion_id,
        case
            when noted.completion_id is not null then true
            when exists (
                select
                from given
                inner join pgclarify_private.completion as held
                    on given.completion_id = held.completion_id
                    and held.leased_by = note_sent.worker_id
                    and given.leased_until = held.leased_until
                where given.completion_id = asked.completion_id
            ) then null
            else false
        end,
        noted.leased_until
    from unnest(note_sent.completion_ids) as asked (completion_id)
    left join noted on asked.completion_id = noted.completion_id;
end;

comment on function pgclarify_private.note_sent(bigint, bigint[], timestamptz[], interval) is
'Note that calls are about to be sent, and renew their leases: a row for each. is_ours: true if it may be sent; false if the '
'worker has lost the lease; null if another session has locked the row: try again. leases: leased_until, as it was claimed.';
grant execute on function pgclarify_private.note_sent(bigint, bigint[], timestamptz[], interval) to pgclarify_worker;

create or replace function pgclarify_private.note_unanswered(completion_ids bigint[])
returns bigint[]
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with noted as (
        insert into pgclarify_private.unanswered_call (
            completion_id, run_id, worker_id, leased_until, sent_at, cost_usd, budget_ids, counted_at
        )
        select
            completion.completion_id, completion.run_id, completion.leased_by, completion.leased_until, completion.sent_at,
            completion.reserved_usd, completion.budget_ids, completion.reserved_at
        from pgclarify_private.completion
        where completion.completion_id = any(note_unanswered.completion_ids)
        returning unanswered_call.unanswered_call_id
    )
    select array_agg(noted.unanswered_call_id) from noted;
end;

comment on function pgclarify_private.note_unanswered(bigint[]) is
'Note calls that were sent as calls without a reply; their new keys, which must be passed to count_unanswered. The caller has '
'locked the rows of the ledger.';

create or replace function pgclarify_private.count_unanswered(unanswered_call_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.budget_counter as counter (budget_id, period_start, cost_usd, calls)
    select budget.budget_id, period.start, sum(unanswered.cost_usd), count(*)
    from pgclarify_private.unanswered_call as unanswered
    cross join lateral unnest(unanswered.budget_ids) as charged (budget_id)
    inner join pgclarify_private.budget on charged.budget_id = budget.budget_id
    cross join lateral (
        select pgclarify_private.period_start(budget.period, budget.created_at, unanswered.counted_at) as start
    ) as period
    where unanswered.unanswered_call_id = any(count_unanswered.unanswered_call_ids)
    group by budget.budget_id, period.start
    order by budget.budget_id, period.start
    on conflict on constraint budget_counter_pk do update
    set cost_usd = counter.cost_usd + excluded.cost_usd, calls = counter.calls + excluded.calls;
end;

comment on function pgclarify_private.count_unanswered(bigint[]) is 'Count calls without a reply in their budgets.';

create or replace function pgclarify_private.end_calls(
    completion_ids bigint[], leases timestamptz[], may_be_charged boolean[] default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_ended bigint[];
    v_charged bigint[];
    v_run_ids bigint[];
begin
    select
        array_agg(locked.completion_id),
        array_agg(locked.completion_id) filter (where locked.sent_at is not null and locked.may_be_charged),
        array_agg(distinct locked.run_id) filter (where locked.sent_at is not null)
    into v_ended, v_charged, v_run_ids
    from (
        select
            known.completion_id, known.run_id, known.sent_at, coalesce(given.may_be_charged, true) as may_be_charged
        from unnest(end_calls.completion_ids, end_calls.leases, end_calls.may_be_charged)
        as given (completion_id, leased_until, may_be_charged)
        inner join pgclarify_private.completion as known
            on given.completion_id = known.completion_id
            -- Not a row that was claimed again since.
            and given.leased_until = known.leased_until
        -- In the same order as claims, to avoid deadlocks.
        order by known.purpose, known.model, known.parameters, known.prompt_version, known.input_hash, known.sample
        for no key update of known
    ) as locked;
    if v_charged is not null then
        perform pgclarify_private.lock_budgets();
        perform pgclarify_private.count_unanswered(pgclarify_private.note_unanswered(v_charged));
    end if;
    update pgclarify_private.completion
    set leased_by = null, leased_until = null, budget_ids = null, reserved_usd = null, reserved_at = null, sent_at = null
    where completion.completion_id = any(v_ended);
    perform pgclarify_private.settle_ended_runs(v_run_ids);
end
$$;

comment on function pgclarify_private.end_calls(bigint[], timestamptz[], boolean[]) is
'End the leases of calls without a reply. A call that was sent counts from then on as one without a reply, unless '
'may_be_charged is false for it: the endpoint charges nothing. leases: leased_until, as it was claimed; a row with another one '
'is left alone.';

create or replace function pgclarify_private.release_completions(
    worker_id bigint, completion_ids bigint[], leases timestamptz[], may_be_charged boolean[] default null
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        pgclarify_private.end_calls(
            array_agg(given.completion_id), array_agg(given.leased_until), array_agg(given.may_be_charged)
        )
    from unnest(release_completions.completion_ids, release_completions.leases, release_completions.may_be_charged)
    as given (completion_id, leased_until, may_be_charged)
    inner join pgclarify_private.completion
        on given.completion_id = completion.completion_id and completion.leased_by = release_completions.worker_id;
end;

comment on function pgclarify_private.release_completions(bigint, bigint[], timestamptz[], boolean[]) is
'Release leases after calls that failed or were cancelled. leases: leased_until, as it was claimed. may_be_charged: for each, '
'false if it was not sent, or if the endpoint provably charges nothing; null if that is not known.';
grant execute on function pgclarify_private.release_completions(
    bigint, bigint[], timestamptz[], boolean[]
) to pgclarify_worker;

create or replace function pgclarify_private.note_sent_again(worker_id bigint, completion_id bigint, lease timestamptz)
returns table (is_ours boolean, refusal jsonb)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
rows 1
as $$
declare
    v_now constant timestamptz := clock_timestamp();
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
    v_call pgclarify_private.completion;
    v_unanswered bigint[];
begin
    select known.* into v_call
    from pgclarify_private.completion as known
    where
        known.completion_id = note_sent_again.completion_id
        and known.leased_by = note_sent_again.worker_id
        and known.leased_until = note_sent_again.lease
        and note_sent_again.worker_id = any(v_living)
    for no key update;
    is_ours := found;
    if is_ours then
        v_unanswered := pgclarify_private.note_unanswered(array[v_call.completion_id]);
        -- The next try counts in the present period.
        update pgclarify_private.completion
        set sent_at = v_now, reserved_at = case when v_call.budget_ids is not null then v_now end
        where completion.completion_id = v_call.completion_id;
    end if;
    if is_ours and v_call.budget_ids is not null then
        perform pgclarify_private.lock_budgets();
        perform pgclarify_private.count_unanswered(v_unanswered);
        perform pgclarify_private.lock_budget_counters(v_call.budget_ids, v_now);
        select pgclarify_private.refusal(budget.budget_id, v_call.model, v_call.reserved_usd) into refusal
        from pgclarify_private.budget
        inner join pgclarify_private.budget_counter as counter
            on counter.budget_id = budget.budget_id
            and counter.period_start = pgclarify_private.period_start(budget.period, budget.created_at, v_now)
        inner join pgclarify_private.reserved(v_call.budget_ids, v_now, v_living) as reserved
            on reserved.budget_id = budget.budget_id
        where
            budget.budget_id = any(v_call.budget_ids)
            -- What is reserved includes the next try.
            and (
                counter.calls + reserved.calls > budget.max_calls
                or counter.cost_usd + reserved.cost_usd > budget.max_cost_usd
            )
        order by budget.budget_id
        limit 1;
    end if;
    if refusal is not null then
        perform pgclarify_private.end_calls(array[v_call.completion_id], array[v_call.leased_until], array[false]);
    end if;
    return next;
end
$$;

comment on function pgclarify_private.note_sent_again(bigint, bigint, timestamptz) is
'Note that a call is about to be sent once more, although the endpoint may charge for the try before, which counts from now on '
'as a call without a reply. is_ours: false if the worker has lost the lease. refusal: as of claim_completions, if budgets do '
'not admit another call; then the lease is released. lease: leased_until, as it was claimed.';
grant execute on function pgclarify_private.note_sent_again(bigint, bigint, timestamptz) to pgclarify_worker;

create or replace function pgclarify_private.count_late_reply(
    worker_id bigint,
    completion_id bigint,
    run_id bigint,
    leased_until timestamptz,
    cost_usd numeric,
    is_stored boolean
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_late pgclarify_private.unanswered_call;
    v_model text;
begin
    -- Of several tries, it is the reply to the last one.
    select known.* into v_late
    from pgclarify_private.unanswered_call as known
    where
        known.completion_id = count_late_reply.completion_id
        and known.worker_id = count_late_reply.worker_id
        and known.leased_until = count_late_reply.leased_until
    order by known.unanswered_call_id desc
    limit 1
    for update;
    if found then
        if count_late_reply.is_stored then
            delete from pgclarify_private.unanswered_call as known
            where known.unanswered_call_id = v_late.unanswered_call_id;
        else
            update pgclarify_private.unanswered_call as known
            set cost_usd = coalesce(count_late_reply.cost_usd, known.cost_usd)
            where known.unanswered_call_id = v_late.unanswered_call_id;
        end if;
        update pgclarify_private.budget_counter as counter
        set cost_usd = greatest(counter.cost_usd + coalesce(count_late_reply.cost_usd, v_late.cost_usd) - v_late.cost_usd, 0)
        from (
            select known.budget_id, known.period, known.created_at
            from pgclarify_private.budget as known
            where known.budget_id = any(v_late.budget_ids)
            order by known.budget_id
        ) as budget
        where
            counter.budget_id = budget.budget_id
            and counter.period_start = pgclarify_private.period_start(budget.period, budget.created_at, v_late.counted_at);
        return;
    end if;
    -- Its lease ended before it was noted as sent, or it is of an earlier version.
    select known.model into v_model
    from pgclarify_private.completion as known
    where known.completion_id = count_late_reply.completion_id;
    if pgclarify_private.is_extractive(v_model) then
        return;
    end if;
    insert into pgclarify_private.budget_counter as counter (budget_id, period_start, cost_usd, calls)
    select
        budget.budget_id,
        pgclarify_private.period_start(budget.period, budget.created_at, clock_timestamp()),
        coalesce(count_late_reply.cost_usd, 0),
        1
    from (values (count_late_reply.run_id)) as payer (run_id)
    left join pgclarify_private.run on payer.run_id = run.run_id
    cross join lateral unnest(pgclarify_private.budgets_of(run.requested_by, run.login, run.corpus_id)) as charged (budget_id)
    inner join pgclarify_private.budget on charged.budget_id = budget.budget_id
    order by budget.budget_id
    on conflict on constraint budget_counter_pk do update
    set cost_usd = counter.cost_usd + excluded.cost_usd, calls = counter.calls + excluded.calls;
end
$$;

comment on function pgclarify_private.count_late_reply(bigint, bigint, bigint, timestamptz, numeric, boolean) is
'Count a reply whose worker had lost the lease of the call: its cost replaces the most that it may cost. is_stored: false if '
'the ledger has kept another reply. Then the call remains one without a reply.';

create or replace function pgclarify_private.end_calls_of_lost_workers(worker_id bigint)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    -- The most that one call of this function ends.
    v_most constant integer := 1000;
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
    v_ids bigint[];
    v_leases timestamptz[];
begin
    -- A worker that was suspended would treat its own calls as those of a dead worker.
    if end_calls_of_lost_workers.worker_id <> all(v_living) then
        return 0;
    end if;
    select array_agg(lost.completion_id), array_agg(lost.leased_until) into v_ids, v_leases
    from (
        select completion.completion_id, completion.leased_until
        from pgclarify_private.completion
        where completion.budget_ids is not null and completion.leased_by <> all(v_living)
        order by completion.reserved_at
        limit v_most
    ) as lost;
    if v_ids is not null then
        perform pgclarify_private.end_calls(v_ids, v_leases);
    end if;
    return coalesce(cardinality(v_ids), 0);
end
$$;

comment on function pgclarify_private.end_calls_of_lost_workers(bigint) is
'End calls of dead workers that are reserved in budgets, so that they count; at most 1,000 a call. Returns how many. '
'worker_id: the caller; a worker that counts as dead ends nothing.';
grant execute on function pgclarify_private.end_calls_of_lost_workers(bigint) to pgclarify_worker;
