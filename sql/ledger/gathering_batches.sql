-- Collects calls that wait for a batch into one, as far as budgets allow.

create or replace function pgclarify_private.gather_batch(
    worker_id bigint, model text, endpoint text, max_requests integer, max_bytes bigint, quiet interval
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_longest_wait constant interval := '10 minutes';
    v_now constant timestamptz := clock_timestamp();
    v_living constant bigint[] := array(select living.worker_id from pgclarify_private.living_workers() as living);
    v_batch_id constant uuid := gen_random_uuid();
    v_run_ids bigint[];
    v_completion_ids bigint[];
    v_is_due boolean;
    v_count integer;
begin
    perform pgclarify_private.lock_budgets();
    -- One worker at a time, so that no call gets into two batches.
    lock table pgclarify_private.batch in share row exclusive mode;
    perform pgclarify_private.tidy_batches();
    with waiting as (
        select distinct on (request.completion_id)
            request.run_id, request.completion_id, request.ready_at, octet_length(request.request) as bytes
        from pgclarify_private.batch_request as request
        inner join pgclarify_private.completion on completion.completion_id = request.completion_id
        where
            request.batch_id is null
            and not request.is_over
            and request.model = gather_batch.model
            and request.ready_at <= v_now
            -- A run that is not for a batch makes the call now.
            and (
                completion.leased_until is null or completion.leased_until < v_now or completion.leased_by <> all(v_living)
            )
            and not exists (
                select from pgclarify_private.batch_request as sent
                where sent.completion_id = request.completion_id and sent.batch_id is not null and not sent.is_over
            )
        order by request.completion_id, request.run_id
    ),
    counted as (
        select
            waiting.*,
            row_number() over (order by waiting.completion_id) as place,
            sum(waiting.bytes) over (order by waiting.completion_id) as total
        from waiting
    )
    select
        array_agg(counted.run_id order by counted.place) filter (where fits.fits),
        array_agg(counted.completion_id order by counted.place) filter (where fits.fits),
        not bool_and(fits.fits)
        or max(counted.ready_at) <= v_now - gather_batch.quiet
        or min(counted.ready_at) <= v_now - v_longest_wait
    into v_run_ids, v_completion_ids, v_is_due
    from counted
    cross join lateral (
        select
            counted.place = 1
            or counted.place <= gather_batch.max_requests and counted.total <= gather_batch.max_bytes as fits
    ) as fits;
    if not coalesce(v_is_due, false) then
        return 0;
    end if;
    insert into pgclarify_private.batch (batch_id, model, endpoint)
    values (v_batch_id, gather_batch.model, gather_batch.endpoint);
    update pgclarify_private.batch_request as request
    set batch_id = v_batch_id
    from unnest(v_run_ids, v_completion_ids) as chosen (run_id, completion_id)
    where request.run_id = chosen.run_id and request.completion_id = chosen.completion_id;
    if exists (select from pgclarify_private.budget) then
        perform pgclarify_private.reserve_batch(v_batch_id, v_now, v_living);
    end if;
    select count(*) into v_count
    from pgclarify_private.batch_request as request
    where request.batch_id = v_batch_id;
    if v_count = 0 then
        delete from pgclarify_private.batch where batch.batch_id = v_batch_id;
    end if;
    return v_count;
end
$$;

comment on function pgclarify_private.gather_batch(bigint, text, text, integer, bigint, interval) is
'Put waiting calls of a model into a new batch, and reserve them in budgets; how many. 0 while more are expected: none of '
'them is older than 10 minutes, and one is younger than quiet. Calls that budgets do not admit stay, or are left to their '
'runs, which get the refusal. max_requests, max_bytes: most calls, and bytes of their bodies.';
grant execute on function pgclarify_private.gather_batch(bigint, text, text, integer, bigint, interval) to pgclarify_worker;

create or replace function pgclarify_private.reserve_batch(batch_id uuid, at timestamptz, living bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Calls for which budgets have no room while others are reserved.
    v_pause constant interval := '1 minute';
    v_owners jsonb;
    v_owner record;
begin
    select
        jsonb_agg(
            jsonb_build_object(
                'requester', owner.requested_by, 'login', owner.login, 'corpus_id', owner.corpus_id, 'budget_ids', known.ids
            )
        )
    into v_owners
    from (
        select distinct run.requested_by, run.login, run.corpus_id
        from pgclarify_private.batch_request as request
        inner join pgclarify_private.run on run.run_id = request.run_id
        where request.batch_id = reserve_batch.batch_id
    ) as owner
    cross join lateral (
        select pgclarify_private.budgets_of(owner.requested_by, owner.login, owner.corpus_id) as ids
    ) as known
    where cardinality(known.ids) > 0;
    -- All of them at once, in the order of claims, to avoid deadlocks.
    perform pgclarify_private.lock_budget_counters(
        array(
            select distinct ids.budget_id::bigint
            from jsonb_array_elements(v_owners) as owner (value)
            cross join lateral jsonb_array_elements_text(owner.value -> 'budget_ids') as ids (budget_id)
        ),
        reserve_batch.at
    );
    for v_owner in
        select owner.requester, owner.login, owner.corpus_id, owner.budget_ids
        from jsonb_to_recordset(v_owners) as owner (requester name, login name, corpus_id bigint, budget_ids bigint[])
    loop
        with mine as (
            select
                request.run_id, request.completion_id, request.model, request.input_bytes, request.max_output_tokens,
                row_number() over (order by request.completion_id) as ordinal
            from pgclarify_private.batch_request as request
            inner join pgclarify_private.run on run.run_id = request.run_id
            where
                request.batch_id = reserve_batch.batch_id
                and run.requested_by = v_owner.requester
                and run.login is not distinct from v_owner.login
                and run.corpus_id is not distinct from v_owner.corpus_id
        ),
        decided as materialized (
            select mine.run_id, mine.completion_id, call.bound_usd, call.is_admitted, call.refusal
            from pgclarify_private.admit(
                v_owner.budget_ids, reserve_batch.at, reserve_batch.living, '{}',
                array(
                    select
                        jsonb_populate_record(
                            null::pgclarify_private.model_call,
                            jsonb_build_object(
                                'ordinal', mine.ordinal,
                                'model', mine.model,
                                -- Half the tokens stand for half the price.
                                'input_bytes', (mine.input_bytes + 1) / 2,
                                'max_output_tokens', (mine.max_output_tokens + 1) / 2
                            )
                        )
                    from mine
                )
            ) as call
            inner join mine on mine.ordinal = call.ordinal
        )
        update pgclarify_private.batch_request as request
        set
            batch_id = case when decided.is_admitted then request.batch_id end,
            -- The run asks again, and gets the refusal.
            is_over = decided.refusal is not null,
            request = case when decided.refusal is null then request.request end,
            ready_at = case when decided.is_admitted then request.ready_at else clock_timestamp() + v_pause end,
            budget_ids = case when decided.is_admitted then v_owner.budget_ids end,
            reserved_usd = case when decided.is_admitted then decided.bound_usd end,
            reserved_at = case when decided.is_admitted then reserve_batch.at end
        from decided
        where request.run_id = decided.run_id and request.completion_id = decided.completion_id;
    end loop;
end
$$;

comment on function pgclarify_private.reserve_batch(uuid, timestamptz, bigint[]) is
'Reserve the calls of a new batch in the budgets of their runs, at half the price, and take out the calls that do not fit. '
'living: ids of live workers.';
