-- What calls and runs cost. A call costs what its model's price was when the reply arrived; later prices do not change that.

create or replace function pgclarify_private.is_extractive(model text)
returns boolean
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select is_extractive.model ~ '^extractive-[0-9]+$';
end;

comment on function pgclarify_private.is_extractive(text) is
'Whether a model is a version of the extractive provider. Its judgements call no model, so they are free.';

create or replace function pgclarify_private.is_reserved_at_endpoint(model text)
returns boolean
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select is_reserved_at_endpoint.model ~ '^endpoint:\s*extractive(-[0-9]+)?\s*(@[1-9][0-9]{0,5})?$';
end;

comment on function pgclarify_private.is_reserved_at_endpoint(text) is
'Whether a model behind an endpoint has a name of the extractive provider. Users choose such names; with this one, calls '
'would be free and no budget would stop them.';

create or replace function pgclarify_private.price_of(model text)
returns table (input_usd numeric, cached_input_usd numeric, output_usd numeric)
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select price.input_usd, price.cached_input_usd, price.output_usd
    from pgclarify_private.model_price as price
    where price.model = price_of.model
    union all
    -- Not a row of the table: a dump of an extension would restore it beside the one that its script has inserted.
    select 0, null, 0
    where
        pgclarify_private.is_extractive(price_of.model)
        and not exists (select from pgclarify_private.model_price as price where price.model = price_of.model);
end;

comment on function pgclarify_private.price_of(text) is
'Current prices of a model in US dollars for a million tokens of input, of cached input (null: as other input) and of '
'output; no row if it has no price. The extractive provider is free.';

create or replace function pgclarify_private.cost_of(
    prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint, input_usd numeric, cached_input_usd numeric,
    output_usd numeric
)
returns numeric
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- A model with price 0 is free, even if its tokens are unknown.
    select (
        case
            when cost_of.input_usd = 0 then 0
            else
                cost_of.prompt_tokens * cost_of.input_usd
                - least(coalesce(cost_of.cached_tokens, 0), cost_of.prompt_tokens)
                * (cost_of.input_usd - coalesce(cost_of.cached_input_usd, cost_of.input_usd))
        end
        + case when cost_of.output_usd = 0 then 0 else cost_of.completion_tokens * cost_of.output_usd end
    ) * 0.000001;
end;

comment on function pgclarify_private.cost_of(bigint, bigint, bigint, numeric, numeric, numeric) is
'US dollars that tokens cost at prices for a million of them; null if a price or the tokens are unknown. cached_tokens: '
'those of prompt_tokens that the endpoint took from its cache; null counts as 0. cached_input_usd: null counts as input_usd.';

create or replace function pgclarify_private.price_share(is_batched boolean)
returns numeric
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select case when price_share.is_batched then 0.5 else 1 end;
end;

comment on function pgclarify_private.price_share(boolean) is
'Which share of the price of a call is paid: half of it in a batch.';

create or replace function pgclarify_private.cost_usd(model text, prompt_tokens bigint, completion_tokens bigint)
returns numeric
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        pgclarify_private.cost_of(
            cost_usd.prompt_tokens, 0, cost_usd.completion_tokens, price.input_usd, price.cached_input_usd,
            price.output_usd
        )
    from pgclarify_private.price_of(cost_usd.model) as price;
end;

comment on function pgclarify_private.cost_usd(text, bigint, bigint) is
'US dollars that a call of a model costs now if no input is cached; null if the model has no price, or the tokens are '
'unknown.';
grant execute on function pgclarify_private.cost_usd(text, bigint, bigint) to pgclarify_reader;

create or replace function pgclarify_private.cache_saving(model text, prompt_tokens bigint, cached_tokens bigint)
returns numeric
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        least(cache_saving.cached_tokens, cache_saving.prompt_tokens)
        * (price.input_usd - coalesce(price.cached_input_usd, price.input_usd)) * 0.000001
    from pgclarify_private.price_of(cache_saving.model) as price;
end;

comment on function pgclarify_private.cache_saving(text, bigint, bigint) is
'US dollars that the cached input of a call saves now; null if the model has no price.';

create or replace function pgclarify_private.paid(run_id bigint)
returns table (
    completions bigint, prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint, cost_usd numeric,
    batched_completions bigint, batch_saved_usd numeric, cache_saved_usd numeric
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select
        count(*),
        coalesce(sum(completion.prompt_tokens), 0),
        coalesce(sum(completion.cached_tokens), 0),
        coalesce(sum(completion.completion_tokens), 0),
        case when count(*) = count(completion.cost_usd) then coalesce(sum(completion.cost_usd), 0) end,
        count(*) filter (where completion.is_batched),
        case
            when count(*) = count(completion.cost_usd) then coalesce(
                sum(completion.cost_usd * (1 / pgclarify_private.price_share(true) - 1)) filter (where completion.is_batched), 0
            )
        end,
        coalesce(
            sum(
                pgclarify_private.cache_saving(completion.model, completion.prompt_tokens, completion.cached_tokens)
                * pgclarify_private.price_share(completion.is_batched)
            ) filter (where completion.cached_tokens > 0),
            case when count(*) filter (where completion.cached_tokens > 0) = 0 then 0 end
        )
    from pgclarify_private.completion
    where completion.run_id = paid.run_id and completion.finished_at is not null;
end;

comment on function pgclarify_private.paid(bigint) is
'What a run has paid for so far, and what batches and cached input have saved: one row. Dollars are null if they are unknown. '
'What cached input has saved is by the present prices.';

create or replace function pgclarify_private.unanswered(run_id bigint)
returns table (calls bigint, cost_usd numeric)
language sql stable security definer
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select count(*), case when count(*) = count(sent.cost_usd) then coalesce(sum(sent.cost_usd), 0) end
    from (
        select noted.cost_usd
        from pgclarify_private.unanswered_call as noted
        where noted.run_id = unanswered.run_id
        union all
        select completion.reserved_usd
        from pgclarify_private.completion
        where completion.run_id = unanswered.run_id and completion.sent_at is not null
    ) as sent;
end;

comment on function pgclarify_private.unanswered(bigint) is
'Calls that a run has sent and that have no reply so far, and the most that they may have cost in US dollars (null if a model '
'had no price): one row.';

create or replace function pgclarify_private.settle_runs(run_ids bigint[])
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    update pgclarify_private.run
    set
        completions = paid.completions,
        reused_completions = coalesce(
            run.reused_completions,
            -- It was cancelled, so it has no stages. Equal passages share one reply, which it may have paid for itself.
            (
                select count(distinct verdict.completion_id)
                from pgclarify_private.verdict
                inner join pgclarify_private.completion on completion.completion_id = verdict.completion_id
                where verdict.run_id = run.run_id and verdict.is_reused and completion.run_id is distinct from run.run_id
            )
        ),
        prompt_tokens = paid.prompt_tokens,
        cached_tokens = paid.cached_tokens,
        completion_tokens = paid.completion_tokens,
        cost_usd = paid.cost_usd,
        batched_completions = paid.batched_completions,
        batch_saved_usd = paid.batch_saved_usd,
        cache_saved_usd = paid.cache_saved_usd,
        unanswered_calls = unanswered.calls,
        unanswered_usd = unanswered.cost_usd
    from (
        select locked.run_id
        from pgclarify_private.run as locked
        where locked.run_id = any(settle_runs.run_ids) and locked.finished_at is not null
        order by locked.run_id
        for no key update
    ) as ended
    cross join lateral pgclarify_private.paid(ended.run_id) as paid
    cross join lateral pgclarify_private.unanswered(ended.run_id) as unanswered
    where
        run.run_id = ended.run_id
        and (run.completions, run.unanswered_calls) is distinct from (paid.completions, unanswered.calls);
end;

comment on function pgclarify_private.settle_runs(bigint[]) is
'Correct the recorded cost of runs that have ended: a reply may arrive after the end.';
grant execute on function pgclarify_private.settle_runs(bigint[]) to pgclarify_worker;

create or replace function pgclarify_private.settle_ended_runs(run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.run where run.run_id = any(settle_ended_runs.run_ids) and run.finished_at is not null;
    if found then
        perform pgclarify_private.settle_runs(
            array(
                select run.run_id
                from pgclarify_private.run
                where run.run_id = any(settle_ended_runs.run_ids)
                order by run.run_id
                for no key update skip locked
            )
        );
    end if;
end
$$;

comment on function pgclarify_private.settle_ended_runs(bigint[]) is
'Settle those of these runs that have ended: they were cancelled before their calls were over. A run that is locked is '
'skipped, because a timeout would lose replies; its worker settles it at the end of its attempt.';

create or replace function pgclarify_private.price_runs(since timestamptz default null, max_runs integer default 10000)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_models text[];
    v_free_models text[];
    v_run_ids bigint[];
begin
    if coalesce(price_runs.max_runs, 0) not between 1 and 1000000 then
        raise exception 'max_runs must be between 1 and 1000000'
            using errcode = 'invalid_parameter_value',
                column = 'max_runs',
                detail = format('max_runs is %s.', coalesce(price_runs.max_runs::text, 'null')),
                hint = 'Leave it out to price at most 10000 runs.';
    end if;
    -- A query of its own: joined to the next one, the planner could look up prices only after it has read the calls of all runs.
    select array_agg(named.model), array_agg(named.model) filter (where price.input_usd = 0)
    into v_models, v_free_models
    from (
        select distinct run.model
        from pgclarify_private.run
        where run.cost_usd is null and run.finished_at is not null
    ) as named
    cross join lateral pgclarify_private.price_of(named.model) as price;
    -- Unordered, so that only the calls of runs that get a price now are read, and of the few runs that cannot get one.
    v_run_ids := array(
        select run.run_id
        from pgclarify_private.run
        cross join lateral (
            select sum(called.calls) as calls
            from (
                select
                    completion.model,
                    count(*) as calls,
                    bool_and(completion.cost_usd is not null) as is_priced,
                    bool_and(completion.cost_usd is not null or completion.prompt_tokens is not null) as has_input,
                    bool_and(completion.cost_usd is not null or completion.completion_tokens is not null) as has_output
                from pgclarify_private.completion
                where completion.run_id = run.run_id and completion.finished_at is not null
                group by completion.model
            ) as called
            left join lateral pgclarify_private.price_of(called.model) as price on true
            having bool_and(
                called.is_priced
                or price.input_usd is not null
                and (called.has_input or price.input_usd = 0)
                and (called.has_output or price.output_usd = 0)
            )
        ) as paid
        where
            run.model = any(v_models)
            and run.cost_usd is null
            and run.finished_at is not null
            and run.finished_at >= coalesce(price_runs.since, '-infinity')
            -- If an endpoint counts no tokens, only free calls can be priced.
            and (run.prompt_tokens > 0 or run.model = any(v_free_models))
            -- Skip runs that have lost calls: the remaining calls would look like all of them.
            and paid.calls = run.completions
        limit price_runs.max_runs
    );
    with price as materialized (
        select called.model, known.input_usd, known.cached_input_usd, known.output_usd
        from (
            select distinct completion.model
            from pgclarify_private.completion
            where completion.run_id = any(v_run_ids) and completion.finished_at is not null and completion.cost_usd is null
        ) as called
        cross join lateral pgclarify_private.price_of(called.model) as known
    ),
    locked as (
        select
            completion.completion_id, completion.model, completion.prompt_tokens, completion.cached_tokens,
            completion.completion_tokens, completion.is_batched
        from pgclarify_private.completion
        where
            completion.run_id = any(v_run_ids) and completion.finished_at is not null and completion.cost_usd is null
        -- In the same order as claims, to avoid deadlocks.
        order by
            completion.purpose, completion.model, completion.parameters, completion.prompt_version, completion.input_hash,
            completion.sample
        for no key update
    )
    update pgclarify_private.completion
    set
        cost_usd = pgclarify_private.cost_of(
            locked.prompt_tokens, locked.cached_tokens, locked.completion_tokens, price.input_usd, price.cached_input_usd,
            price.output_usd
        ) * pgclarify_private.price_share(locked.is_batched)
    from locked
    inner join price on locked.model = price.model
    where completion.completion_id = locked.completion_id;
    update pgclarify_private.run
    set cost_usd = paid.cost_usd, batch_saved_usd = paid.batch_saved_usd, cache_saved_usd = paid.cache_saved_usd
    from (
        select locked.run_id
        from pgclarify_private.run as locked
        where locked.run_id = any(v_run_ids) and locked.cost_usd is null
        order by locked.run_id
        for no key update
    ) as unpriced
    cross join lateral pgclarify_private.paid(unpriced.run_id) as paid
    where run.run_id = unpriced.run_id;
    -- All of them together: a day, role and model of a corpus are one row.
    update pgclarify_private.embedding_usage as known
    set
        cost_usd = known.cost_usd + unpriced.unpriced_tokens * price.input_usd * 0.000001,
        unpriced_tokens = known.unpriced_tokens - unpriced.unpriced_tokens
    from (
        select locked.embedding_usage_id, locked.model, locked.unpriced_tokens
        from pgclarify_private.embedding_usage as locked
        where
            locked.unpriced_tokens > 0
            and locked.day >= coalesce((price_runs.since at time zone 'UTC')::date, '-infinity')
        -- In the same order as count_embeddings, to avoid deadlocks.
        order by locked.corpus_id, locked.requested_by, locked.requested_by_oid, locked.operation, locked.model
        for no key update
    ) as unpriced
    cross join lateral pgclarify_private.price_of(pgclarify_private.endpoint_model(unpriced.model)) as price
    where known.embedding_usage_id = unpriced.embedding_usage_id;
    return cardinality(v_run_ids);
end
$$;

comment on function pgclarify_private.price_runs(timestamptz, integer) is
'Fill in the cost of runs that ended while one of their models had no price. It uses the current prices, and returns how '
'many runs it priced; for members of pgclarify_owner. It also fills in the cost of embeddings. since: only runs that ended '
'at that time or later, and embeddings of that day or later; null for all. max_runs: how many runs to price in this call, 1 '
'to 1,000,000; call it until it returns 0.';
