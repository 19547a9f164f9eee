-- Views of money: what was used and by which role, and what is left of budgets.

create or replace function pgclarify_private.sum_of_counts(counts jsonb[])
returns jsonb
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select jsonb_object_agg(summed.key, summed.count)
    from (
        select one.key, sum(one.value::bigint) as count
        from unnest(sum_of_counts.counts) as counted (kinds)
        cross join lateral jsonb_each_text(counted.kinds) as one
        group by one.key
    ) as summed;
end;

comment on function pgclarify_private.sum_of_counts(jsonb[]) is 'The sum of objects of counts, key by key; null without one.';
grant execute on function pgclarify_private.sum_of_counts(jsonb[]) to pgclarify_reader;

create or replace function pgclarify_private.trial_usage()
returns table (day date, model text, calls bigint, prompt_tokens bigint, completion_tokens bigint, cost_usd numeric)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        (coalesce(trial.finished_at, trial.started_at) at time zone 'UTC')::date, trial.model, trial.calls,
        trial.prompt_tokens, trial.completion_tokens, trial.cost_usd
    from pgclarify_private.model_trial as trial
    where trial.finished_at is not null or trial.calls > 0;
end;

comment on function pgclarify_private.trial_usage() is
'What trials of models have used that are over or have failed, for view usage.';
grant execute on function pgclarify_private.trial_usage() to pgclarify_reader;

create or replace view pgclarify.usage as
select
    (run.created_at at time zone 'UTC')::date as day,
    run.corpus_name || '' as corpus,
    (run.requested_by || '')::name as requested_by,
    run.operation,
    run.model || '' as model,
    count(*) as runs,
    coalesce(sum(run.completions), 0) as completions,
    coalesce(sum(run.reused_completions), 0) as reused_completions,
    coalesce(sum(run.prompt_tokens), 0)::bigint as prompt_tokens,
    coalesce(sum(run.completion_tokens), 0)::bigint as completion_tokens,
    coalesce(sum(run.cost_usd), 0) as cost_usd,
    count(*) filter (where run.finished_at is not null and run.cost_usd is null) as unpriced_runs,
    coalesce(sum(run.cached_tokens), 0)::bigint as cached_tokens,
    0::bigint as embedded_texts,
    0::bigint as unpriced_tokens,
    coalesce(sum(run.batched_completions), 0)::bigint as batched_completions,
    coalesce(sum(run.reuse_saved_usd), 0) as reuse_saved_usd,
    coalesce(sum(run.batch_saved_usd), 0) as batch_saved_usd,
    coalesce(sum(run.cache_saved_usd), 0) as cache_saved_usd,
    coalesce(sum(run.unanswered_calls), 0)::bigint as unanswered_calls,
    coalesce(sum(run.unanswered_usd), 0) as unanswered_usd,
    pgclarify_private.sum_of_counts(array_agg(run.mends) filter (where run.mends is not null)) as mends
from pgclarify_private.run
group by
    (run.created_at at time zone 'UTC')::date,
    run.corpus_name || '',
    (run.requested_by || '')::name,
    run.operation,
    run.model || ''
union all
select
    embedding_usage.day,
    embedding_usage.corpus_name || '',
    (embedding_usage.requested_by || '')::name,
    embedding_usage.operation,
    embedding_usage.model || '',
    0,
    0,
    0,
    embedding_usage.tokens,
    0,
    embedding_usage.cost_usd,
    0,
    0,
    embedding_usage.texts,
    embedding_usage.unpriced_tokens,
    0,
    0,
    0,
    0,
    0,
    0,
    null
from pgclarify_private.embedding_usage
union all
select
    trial.day,
    null,
    null,
    'model_trial',
    trial.model || '',
    0,
    trial.calls,
    0,
    trial.prompt_tokens,
    trial.completion_tokens,
    coalesce(trial.cost_usd, 0),
    0,
    0,
    0,
    case when trial.cost_usd is null then trial.prompt_tokens else 0 end,
    0,
    0,
    0,
    0,
    0,
    0,
    null
from pgclarify_private.trial_usage() as trial;

comment on view pgclarify.usage is
'What the runs that you may see have used: a row for each day, corpus, role, operation and model. The usage of embedding '
'endpoints and of trials of models is in separate rows.';
comment on column pgclarify.usage.day is 'Day in UTC on which they were asked, or texts were embedded.';
comment on column pgclarify.usage.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.usage.requested_by is
'Role that asked; for embed_passages, the owner of the corpus; null for model_trial.';
comment on column pgclarify.usage.operation is
'clarify, investigate and so on, as in run; embed_passages and embed_questions for texts that endpoints have embedded '
'for a corpus and for runs; model_trial for a trial that is over or has failed.';
comment on column pgclarify.usage.model is
'Model that judged; null for runs that no worker has started. For embed_passages and embed_questions, the embedding model.';
comment on column pgclarify.usage.runs is 'Runs, in any state; 0 for embeddings and trials.';
comment on column pgclarify.usage.completions is
'Calls that they made; the extractive provider counts each passage that it reads, which costs nothing. Here and below, runs '
'that are not over do not count.';
comment on column pgclarify.usage.reused_completions is 'Replies that they took from the ledger.';
comment on column pgclarify.usage.prompt_tokens is 'Input tokens that they paid for.';
comment on column pgclarify.usage.completion_tokens is 'Output tokens that they paid for.';
comment on column pgclarify.usage.cost_usd is
'Cost in US dollars, without unpriced_runs and unpriced_tokens.';
comment on column pgclarify.usage.unpriced_runs is
'Runs that have ended and whose cost is unknown: a model that they called had no price, or the endpoint did not say how many '
'tokens a call took. pgclarify_private.price_runs() fills it in.';
comment on column pgclarify.usage.cached_tokens is
'How many of prompt_tokens the endpoint took from its cache, as it reports them.';
comment on column pgclarify.usage.embedded_texts is 'Texts that were embedded; 0 for runs.';
comment on column pgclarify.usage.unpriced_tokens is
'How many of prompt_tokens were embedded, or read in a trial, while the model had no price; 0 for runs.';
comment on column pgclarify.usage.batched_completions is 'How many of completions came from batches, at half the price.';
comment on column pgclarify.usage.reuse_saved_usd is
'US dollars that the reused replies would have cost, by the prices when the runs ended.';
comment on column pgclarify.usage.batch_saved_usd is 'US dollars that batches have saved, against single calls.';
comment on column pgclarify.usage.cache_saved_usd is
'US dollars that cached input has saved, by the prices when the runs ended.';
comment on column pgclarify.usage.unanswered_calls is
'Calls that were sent and have no reply, though the endpoint may charge for them: not among completions.';
comment on column pgclarify.usage.unanswered_usd is
'Most that these calls may have cost, in US dollars: not in cost_usd. It leaves out runs whose model had no price.';
comment on column pgclarify.usage.mends is
'How many replies had their form mended, by kind: an object such as {"words": 3}; null if none had. Replies from the ledger '
'count, too. docs/vocabularies.md has the kinds.';
grant select on pgclarify.usage to pgclarify_reader;

create or replace function pgclarify_private.reserved_now(caller pgclarify_private.caller)
returns table (budget_id bigint, calls bigint, cost_usd numeric)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
rows 10
as $$
declare
    v_requester name := pgclarify_private.verify_caller(reserved_now.caller);
    v_roles name[] := pgclarify_private.roles_of(v_requester);
begin
    return query
    select reserved.budget_id, reserved.calls, reserved.cost_usd
    from pgclarify_private.reserved(
        array(
            select budget.budget_id
            from pgclarify_private.budget
            left join pgclarify_private.corpus on budget.corpus_id = corpus.corpus_id
            where
                -- The same as policy budget_is_visible, which does not apply to members of the owner.
                'pgclarify_owner'::name = any(v_roles)
                or pgclarify_private.belongs_to(corpus.owner, corpus.owner_oid, v_roles)
                or corpus.analysts && v_roles
                or (budget.role_name is null or budget.role_name = any(v_roles))
                and (
                    budget.corpus_id is null
                    or pgclarify_private.may_search(corpus.readers, corpus.owner, corpus.owner_oid, v_roles)
                )
        ),
        clock_timestamp(),
        array(select living.worker_id from pgclarify_private.living_workers() as living)
    ) as reserved;
end
$$;

comment on function pgclarify_private.reserved_now(pgclarify_private.caller) is
'What reserved returns now for the budgets that the caller sees.';
grant execute on function pgclarify_private.reserved_now(pgclarify_private.caller) to pgclarify_reader;

create or replace view pgclarify.budget as
with reserved as materialized (
    select seen.budget_id, seen.calls, seen.cost_usd
    from pgclarify_private.caller as caller
    cross join lateral pgclarify_private.reserved_now(caller) as seen
)

select
    budget.name || '' as name,
    (budget.role_name || '')::name as role_name,
    corpus.name || '' as corpus,
    budget.period,
    budget.max_cost_usd,
    budget.max_calls,
    coalesce(counter.cost_usd, 0) as spent_usd,
    coalesce(counter.calls, 0) as calls,
    coalesce(reserved.cost_usd, 0) as reserved_usd,
    coalesce(reserved.calls, 0) as reserved_calls,
    case
        when budget.max_cost_usd is not null
            then greatest(budget.max_cost_usd - coalesce(counter.cost_usd, 0) - coalesce(reserved.cost_usd, 0), 0)
    end as left_usd,
    case
        when budget.max_calls is not null
            then greatest(budget.max_calls - coalesce(counter.calls, 0) - coalesce(reserved.calls, 0), 0)
    end as left_calls,
    case budget.period
        when 'day' then (date_trunc('day', statement_timestamp() at time zone 'UTC') + interval '1 day') at time zone 'UTC'
        when 'month' then
            (date_trunc('month', statement_timestamp() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
    end as resets_at,
    budget.role_name is null or exists (
        select from pg_catalog.pg_roles where pg_roles.rolname = budget.role_name
    ) as role_exists
from pgclarify_private.budget
left join pgclarify_private.corpus on budget.corpus_id = corpus.corpus_id
left join pgclarify_private.budget_counter as counter
    on budget.budget_id = counter.budget_id
    and counter.period_start = pgclarify_private.period_start(budget.period, budget.created_at, statement_timestamp())
left join reserved on budget.budget_id = reserved.budget_id;

comment on view pgclarify.budget is
'Budgets that apply to you: what was spent of each in its current period, and what is left.';
comment on column pgclarify.budget.corpus is
'It applies to runs on this corpus; null for all runs, with or without a corpus.';
comment on column pgclarify.budget.spent_usd is
'US dollars that answered calls have cost, and that calls without a reply may have cost at most.';
comment on column pgclarify.budget.calls is
'How many of these calls there are: a call that was sent counts, even if its reply never comes.';
comment on column pgclarify.budget.reserved_usd is 'US dollars that calls in flight may cost at most.';
comment on column pgclarify.budget.reserved_calls is 'How many calls are in flight.';
comment on column pgclarify.budget.left_usd is
'US dollars that are neither spent nor reserved; null without a limit in dollars.';
comment on column pgclarify.budget.left_calls is
'Calls that are neither spent nor reserved; null without a limit in calls.';
comment on column pgclarify.budget.resets_at is 'When its period ends; null for total, which has no end.';
comment on column pgclarify.budget.role_exists is
'False if no role of that name exists: then it limits nothing.';
grant select on pgclarify.budget to pgclarify_reader;
