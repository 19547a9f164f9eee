-- What embedding endpoints cost. Their calls are not in the ledger, because a corpus has too many passages. Workers add up what
-- they have embedded, and write the sums every second. While a budget is spent, embedding for its corpus waits.

create or replace function pgclarify_private.endpoint_model(model text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when starts_with(endpoint_model.model, 'endpoint:')
                then regexp_replace(substr(endpoint_model.model, 10), '@[1-9][0-9]{0,5}$', '')
        end;
end;

comment on function pgclarify_private.endpoint_model(text) is
'The name of an embedding model at its endpoint and in model_price: without endpoint: and without the dimensions. Null for a '
'model that workers load, which is free.';

create or replace function pgclarify_private.count_embeddings(
    run_ids bigint[], embedding_space_ids bigint[], models text[], texts bigint[], tokens bigint[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := clock_timestamp();
begin
    perform pgclarify_private.lock_budgets();
    with given as (
        select *
        from unnest(
            count_embeddings.run_ids, count_embeddings.embedding_space_ids, count_embeddings.models,
            count_embeddings.texts, count_embeddings.tokens
        ) as given (run_id, embedding_space_id, model, texts, tokens)
    ),
    price as materialized (
        select named.model, known.input_usd
        from (select distinct given.model from given) as named
        cross join lateral pgclarify_private.price_of(pgclarify_private.endpoint_model(named.model)) as known
    ),
    owed as materialized (
        select
            paid.corpus_id, min(paid.corpus_name) as corpus_name, paid.requested_by, paid.requested_by_oid, paid.login,
            paid.operation, paid.model, price.input_usd, sum(paid.texts)::bigint as texts, sum(paid.tokens)::bigint as tokens,
            sum(paid.tokens) * price.input_usd * 0.000001 as cost_usd
        from (
            select
                coalesce(run.corpus_id, corpus.corpus_id) as corpus_id,
                coalesce(run.corpus_name, corpus.name) as corpus_name,
                coalesce(run.requested_by, corpus.owner, session_user) as requested_by,
                coalesce(
                    run.requested_by_oid, corpus.owner_oid, pgclarify_private.role_oid(session_user)
                ) as requested_by_oid,
                run.login,
                case when given.embedding_space_id is null then 'embed_questions' else 'embed_passages' end as operation,
                given.model, given.texts, given.tokens
            from given
            left join pgclarify_private.run on given.run_id = run.run_id
            left join pgclarify_private.embedding_space as space on given.embedding_space_id = space.embedding_space_id
            left join pgclarify_private.corpus on space.corpus_id = corpus.corpus_id
        ) as paid
        left join price on paid.model = price.model
        group by
            paid.corpus_id, paid.requested_by, paid.requested_by_oid, paid.login, paid.operation, paid.model,
            price.input_usd
    ),
    counted as (
        insert into pgclarify_private.embedding_usage as known (
            day, corpus_id, corpus_name, requested_by, requested_by_oid, operation, model, texts, tokens, unpriced_tokens,
            cost_usd
        )
        select
            (v_now at time zone 'UTC')::date, owed.corpus_id, min(owed.corpus_name), owed.requested_by,
            owed.requested_by_oid, owed.operation, owed.model, sum(owed.texts), sum(owed.tokens),
            sum(case when owed.cost_usd is null then owed.tokens else 0 end), coalesce(sum(owed.cost_usd), 0)
        from owed
        -- Several logins may have asked as one role.
        group by owed.corpus_id, owed.requested_by, owed.requested_by_oid, owed.operation, owed.model
        -- Always in the same order, to avoid deadlocks.
        order by owed.corpus_id, owed.requested_by, owed.requested_by_oid, owed.operation, owed.model
        on conflict on constraint embedding_usage_key do update
        set
            texts = known.texts + excluded.texts,
            tokens = known.tokens + excluded.tokens,
            unpriced_tokens = known.unpriced_tokens + excluded.unpriced_tokens,
            cost_usd = known.cost_usd + excluded.cost_usd
    )
    insert into pgclarify_private.budget_counter as counter (budget_id, period_start, cost_usd)
    select budget.budget_id, period.start, sum(owed.cost_usd)
    from owed
    cross join lateral unnest(
        pgclarify_private.budgets_of(owed.requested_by, owed.login, owed.corpus_id)
    ) as charged (budget_id)
    inner join pgclarify_private.budget on charged.budget_id = budget.budget_id
    cross join lateral (
        select pgclarify_private.period_start(budget.period, budget.created_at, v_now) as start
    ) as period
    where owed.cost_usd > 0
    group by budget.budget_id, period.start
    order by budget.budget_id, period.start
    on conflict on constraint budget_counter_pk do update set cost_usd = counter.cost_usd + excluded.cost_usd;
end
$$;

comment on function pgclarify_private.count_embeddings(bigint[], bigint[], text[], bigint[], bigint[]) is
'Count what endpoints have embedded, at current prices, and charge it to budgets. Arrays with one element for each count: '
'run_ids (the run that asked), embedding_space_ids (the space that was filled), both null for other texts; models, as spaces '
'name them; texts and tokens, their numbers. Passages are charged to the owner of the corpus, questions to the role that '
'asked, and other texts to the role that the worker logged in as.';
grant execute on function pgclarify_private.count_embeddings(bigint[], bigint[], text[], bigint[], bigint[])
to pgclarify_worker;

create or replace function pgclarify_private.embedding_refusal(requester name, corpus_id bigint, model text)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Without names of budgets: every role that sees the corpus can read this.
    select
        case
            when price.input_usd is null then format(
                'the embedding model has no price, which a budget goes by: Insert one for "%s" into pgclarify.model_price.',
                pgclarify_private.shown(pgclarify_private.endpoint_model(embedding_refusal.model))
            )
            else 'a budget is spent: Embedding goes on when the budget begins anew, or when pgclarify.set_budget has raised '
                'it; see pgclarify.budget.'
        end
    from unnest(
        pgclarify_private.budgets_of(embedding_refusal.requester, null, embedding_refusal.corpus_id)
    ) as held (budget_id)
    inner join pgclarify_private.budget on held.budget_id = budget.budget_id
    left join pgclarify_private.budget_counter as counter
        on budget.budget_id = counter.budget_id
        and counter.period_start
        = pgclarify_private.period_start(budget.period, budget.created_at, statement_timestamp())
    left join lateral pgclarify_private.price_of(
        pgclarify_private.endpoint_model(embedding_refusal.model)
    ) as price on true
    where
        budget.max_cost_usd is not null
        and (
            price.input_usd is null
            or price.input_usd > 0 and coalesce(counter.cost_usd, 0) >= budget.max_cost_usd
        )
    limit 1;
end;

comment on function pgclarify_private.embedding_refusal(name, bigint, text) is
'Why budgets in dollars do not admit embedding a passage of a corpus by a model behind an endpoint now; null if they admit '
'it.';

create or replace function pgclarify_private.delay_unpaid_spaces()
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_alike record;
    v_delayed bigint[] := '{}';
begin
    -- If all models are local, do not wait for a lock on budgets.
    if not exists (
        select from pgclarify_private.embedding_space as space
        where space.state <> 'retired' and starts_with(space.model, 'endpoint:')
    ) then
        return v_delayed;
    end if;
    perform pgclarify_private.lock_budgets();
    if not exists (select from pgclarify_private.budget where budget.max_cost_usd is not null) then
        return v_delayed;
    end if;
    -- Once for all corpora of an owner with the same model: only corpora with budgets of their own can differ.
    for v_alike in
        select
            array_agg(waiting.embedding_space_id) as space_ids,
            pgclarify_private.embedding_refusal(waiting.owner, waiting.limited_corpus_id, waiting.model) as error
        from (
            select
                space.embedding_space_id, space.model, corpus.owner,
                (
                    select min(budget.corpus_id) from pgclarify_private.budget
                    where budget.corpus_id = corpus.corpus_id and budget.max_cost_usd is not null
                ) as limited_corpus_id
            from pgclarify_private.embedding_space as space
            inner join pgclarify_private.corpus on space.corpus_id = corpus.corpus_id
            where
                space.state <> 'retired'
                and space.dimensions is not null
                and starts_with(space.model, 'endpoint:')
                and case space.state
                    when 'active' then exists (
                        select from pgclarify_private.pending_document as pending
                        where pending.corpus_id = space.corpus_id
                    )
                    else space.queued_at is null or exists (
                        select from pgclarify_private.pending_passage as pending
                        where pending.embedding_space_id = space.embedding_space_id
                    )
                end
        ) as waiting
        group by waiting.owner, waiting.model, waiting.limited_corpus_id
    loop
        continue when v_alike.error is null;
        v_delayed := v_delayed || v_alike.space_ids;
        update pgclarify_private.embedding_space
        set error = v_alike.error
        where embedding_space.embedding_space_id in (
            select space.embedding_space_id
            from pgclarify_private.embedding_space as space
            where
                space.embedding_space_id = any(v_alike.space_ids)
                and space.error is distinct from v_alike.error
            for no key update skip locked
        );
    end loop;
    return v_delayed;
end
$$;

comment on function pgclarify_private.delay_unpaid_spaces() is
'Delay the spaces whose embedding no budget admits now, and return them. embedding_space.error says why, until the next '
'vectors are stored.';
