-- The end of a call with a reply: the reply and its cost are stored.

create or replace function pgclarify_private.store_completions(worker_id bigint, completions jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- As in claim_completions.
set enable_seqscan = off
set jit = off
as $$
declare
    -- An array, because the planner expects a hundred rows of a set, and would read the whole ledger for these.
    v_completion_ids constant bigint[] := array(
        select (sent.completion ->> 'completion_id')::bigint
        from jsonb_array_elements(store_completions.completions) as sent (completion)
    );
    v_run_ids bigint[];
    v_late jsonb;
    v_unanswered bigint[];
begin
    perform pgclarify_private.lock_budgets();
    with given as (
        select
            said.completion_id, said.run_id, said.leased_until, said.reply, said.prompt_tokens, said.cached_tokens,
            said.completion_tokens, said.latency_ms, said.finish_reason,
            coalesce(said.is_batched, false) as is_batched, sent.place
        from jsonb_array_elements(store_completions.completions) with ordinality as sent (completion, place)
        cross join lateral jsonb_populate_record(null::pgclarify_private.completion, sent.completion) as said
    ),
    locked as (
        select
            completion.completion_id, completion.model, completion.run_id, completion.leased_by, completion.leased_until,
            completion.budget_ids, completion.reserved_usd, completion.reserved_at, completion.sent_at, completion.cost_usd
        from pgclarify_private.completion
        where completion.completion_id = any(v_completion_ids)
        -- In the same order as claims, to avoid deadlocks.
        order by
            completion.purpose, completion.model, completion.parameters, completion.prompt_version, completion.input_hash,
            completion.sample
        for no key update
    ),
    price as materialized (
        select asked.model, known.input_usd, known.cached_input_usd, known.output_usd
        from (select distinct locked.model from locked) as asked
        cross join lateral pgclarify_private.price_of(asked.model) as known
    ),
    paid as materialized (
        select
            given.*,
            coalesce(locked.leased_by = store_completions.worker_id and locked.leased_until = given.leased_until, false)
                as has_lease,
            locked.model,
            locked.budget_ids,
            locked.reserved_at,
            pgclarify_private.cost_of(
                given.prompt_tokens, given.cached_tokens, given.completion_tokens, price.input_usd, price.cached_input_usd,
                price.output_usd
            ) * pgclarify_private.price_share(given.is_batched) as cost_usd,
            -- A call of unknown cost counts as its reservation: it is not free only because its tokens, or its price since the
            -- claim, are lost. If another run has stored the same reply, it counts as what that call cost.
            coalesce(locked.reserved_usd, locked.cost_usd, 0) as cost_otherwise
        from given
        inner join locked on given.completion_id = locked.completion_id
        left join price on locked.model = price.model
    ),
    stored as (
        update pgclarify_private.completion
        set
            -- The document that the call showed may have been erased since: then the call counts, but its reply is not stored.
            reply = case when completion.erased_at is null then kept.reply end,
            prompt_tokens = kept.prompt_tokens,
            cached_tokens = kept.cached_tokens,
            completion_tokens = kept.completion_tokens,
            latency_ms = kept.latency_ms,
            finish_reason = kept.finish_reason,
            cost_usd = kept.cost_usd,
            is_batched = kept.is_batched,
            finished_at = clock_timestamp(),
            leased_by = null,
            leased_until = null,
            budget_ids = null,
            reserved_usd = null,
            reserved_at = null,
            sent_at = null
        from (
            select distinct on (paid.completion_id) paid.*
            from paid
            order by paid.completion_id, paid.place
        ) as kept
        where
            completion.completion_id = kept.completion_id
            -- Otherwise the planner would look for the few calls without a reply in the whole ledger.
            and completion.completion_id = any(v_completion_ids)
            -- The first reply is kept: runs may already depend on it.
            and completion.finished_at is null
        returning completion.completion_id, completion.run_id
    ),
    overtaken as (
        -- The lease was lost, and another worker is making the call, too. Its reply may come second, or never.
        insert into pgclarify_private.unanswered_call (
            completion_id, run_id, worker_id, leased_until, sent_at, cost_usd, budget_ids, counted_at
        )
        select
            locked.completion_id, locked.run_id, locked.leased_by, locked.leased_until, locked.sent_at, locked.reserved_usd,
            locked.budget_ids, locked.reserved_at
        from locked
        where
            locked.sent_at is not null
            and not exists (select from paid where paid.completion_id = locked.completion_id and paid.has_lease)
        returning unanswered_call.unanswered_call_id
    ),
    counted as (
        -- This comes after all rows of the ledger and in the order of ids, as in claims.
        insert into pgclarify_private.budget_counter as counter (budget_id, period_start, cost_usd, calls)
        select
            budget.budget_id,
            period.start,
            sum(coalesce(paid.cost_usd, paid.cost_otherwise)),
            count(*)
        from paid
        cross join lateral unnest(paid.budget_ids) as charged (budget_id)
        inner join pgclarify_private.budget on charged.budget_id = budget.budget_id
        cross join lateral (
            select pgclarify_private.period_start(budget.period, budget.created_at, paid.reserved_at) as start
        ) as period
        where paid.has_lease
        group by budget.budget_id, period.start
        order by budget.budget_id, period.start
        on conflict on constraint budget_counter_pk do update
        set cost_usd = counter.cost_usd + excluded.cost_usd, calls = counter.calls + excluded.calls
    )
    select
        (
            select array_agg(distinct payer.run_id)
            from (
                select stored.run_id from stored
                union all
                select paid.run_id from paid where not paid.has_lease
            ) as payer
        ),
        (
            select
                jsonb_agg(
                    jsonb_build_object(
                        'completion_id', paid.completion_id,
                        'run_id', paid.run_id,
                        'leased_until', paid.leased_until,
                        'cost_usd', coalesce(paid.cost_usd, paid.cost_otherwise),
                        'is_stored', exists (select from stored where stored.completion_id = paid.completion_id)
                    )
                    order by paid.completion_id
                )
            from paid
            where not paid.has_lease
        ),
        (select array_agg(overtaken.unanswered_call_id) from overtaken)
    into v_run_ids, v_late, v_unanswered;
    -- Every call was paid for and counts, even if its reply comes second or after its lease was lost.
    if v_unanswered is not null then
        perform pgclarify_private.count_unanswered(v_unanswered);
    end if;
    if v_late is not null then
        perform
            pgclarify_private.count_late_reply(
                store_completions.worker_id, late.completion_id, late.run_id, late.leased_until, late.cost_usd, late.is_stored
            )
        from jsonb_to_recordset(v_late) as late (
            completion_id bigint, run_id bigint, leased_until timestamptz, cost_usd numeric, is_stored boolean
        );
    end if;
    perform pgclarify_private.settle_ended_runs(v_run_ids);
end
$$;

comment on function pgclarify_private.store_completions(bigint, jsonb) is
'Store what a model said and what that cost, and count it: for the budgets that reserved it, or, if its lease was lost, as '
'count_late_reply does. completions: array of objects with columns of table completion: completion_id, run_id (the '
'run that made the call; null without one), leased_until (as it was claimed), reply, prompt_tokens, completion_tokens (null if '
'the endpoint did not report them), cached_tokens (those of prompt_tokens that the endpoint took from its cache), latency_ms, '
'finish_reason (null if it did not say) and is_batched (true if it came from a batch, at half the price).';
grant execute on function pgclarify_private.store_completions(bigint, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.await_replies(completion_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Locked budgets may delay a reply for longer. Then store_completions settles the run.
    v_until constant timestamptz := clock_timestamp() + interval '1 second';
begin
    while exists (
        select
        from pgclarify_private.completion
        where completion.completion_id = any(await_replies.completion_ids) and completion.finished_at is null
    )
    and clock_timestamp() < v_until loop
        perform pg_sleep(0.001);
    end loop;
end
$$;

comment on function pgclarify_private.await_replies(bigint[]) is
'Wait until another transaction has stored the replies to these calls, at most a second.';
