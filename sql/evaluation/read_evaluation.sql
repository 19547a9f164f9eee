-- What pgclarify eval reads of evaluations and of their runs.

create or replace function pgclarify_private.evaluations(caller pgclarify_private.caller)
returns table (
    eval_run_id bigint,
    name text,
    data_set text,
    data_set_hash bytea,
    corpus_id bigint,
    corpus_name text,
    method text,
    settings jsonb,
    conditions jsonb,
    planned_cases integer,
    done_cases bigint,
    figures jsonb,
    requested_by name,
    created_at timestamptz,
    finished_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_caller(evaluations.caller));
begin
    return query
    select
        eval_run.eval_run_id, eval_run.name, eval_run.data_set, eval_run.data_set_hash, eval_run.corpus_id,
        eval_run.corpus_name, eval_run.method, eval_run.settings, eval_run.conditions, eval_run.planned_cases,
        (select count(*) from pgclarify_private.eval_case where eval_case.eval_run_id = eval_run.eval_run_id),
        eval_run.figures, eval_run.requested_by, eval_run.created_at, eval_run.finished_at
    from pgclarify_private.eval_run
    left join pgclarify_private.corpus on eval_run.corpus_id = corpus.corpus_id
    where
        pgclarify_private.belongs_to(eval_run.requested_by, eval_run.requested_by_oid, v_roles)
        or corpus.analysts && v_roles;
end
$$;

comment on function pgclarify_private.evaluations(pgclarify_private.caller) is
'Evaluations that the caller may see: those of its roles, and of corpora that it analyzes. done_cases: how many are judged.';
grant execute on function pgclarify_private.evaluations(pgclarify_private.caller) to pgclarify_reader;

create or replace function pgclarify_private.evaluation_cases(caller pgclarify_private.caller, eval_run_id bigint)
returns setof pgclarify_private.eval_case
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if exists (
        select from pgclarify_private.evaluations(evaluation_cases.caller) as visible
        where visible.eval_run_id = evaluation_cases.eval_run_id
    ) then
        return query
        select eval_case.*
        from pgclarify_private.eval_case
        where eval_case.eval_run_id = evaluation_cases.eval_run_id
        order by eval_case.ordinal;
    end if;
end
$$;

comment on function pgclarify_private.evaluation_cases(pgclarify_private.caller, bigint) is
'The judged cases of an evaluation, in order; none if the caller may not see it.';
grant execute on function pgclarify_private.evaluation_cases(pgclarify_private.caller, bigint) to pgclarify_reader;

create or replace function pgclarify_private.usage_of_run(caller pgclarify_private.caller, run_id bigint)
returns table (
    status text,
    error text,
    error_code text,
    stop_code text,
    stop_reason text,
    calls bigint,
    reused_calls bigint,
    tokens bigint,
    cost_usd double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.visible_run(usage_of_run.caller, usage_of_run.run_id);
begin
    return query
    select
        v_run.status, v_run.error, v_run.error_code, v_run.stop_code, v_run.stop_reason, used.calls + used.reused_calls,
        used.reused_calls, used.prompt_tokens + used.completion_tokens,
        case
            when used.calls + used.reused_calls = 0 then 0.0
            else pgclarify_private.cost_usd(v_run.model, used.prompt_tokens, used.completion_tokens)
        end::double precision
    from (
        select
            coalesce(sum(stage.calls), 0)::bigint as calls,
            coalesce(sum(stage.reused_calls), 0)::bigint as reused_calls,
            coalesce(sum(stage.prompt_tokens + stage.reused_prompt_tokens), 0)::bigint as prompt_tokens,
            coalesce(sum(stage.completion_tokens + stage.reused_completion_tokens), 0)::bigint as completion_tokens
        from pgclarify_private.stage
        where stage.run_id = v_run.run_id
    ) as used;
end
$$;

comment on function pgclarify_private.usage_of_run(pgclarify_private.caller, bigint) is
'How a run ended, and its calls, tokens and cost as if all had been paid for now; for callers who may see the run. '
'reused_calls: those of calls that were paid for before. cost_usd: at current prices, null if the model has none.';
grant execute on function pgclarify_private.usage_of_run(pgclarify_private.caller, bigint) to pgclarify_user;

create or replace function pgclarify_private.price_of_tokens(
    caller pgclarify_private.caller, model text, prompt_tokens bigint, completion_tokens bigint
)
returns double precision
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.verify_caller(price_of_tokens.caller);
    return pgclarify_private.cost_usd(
        price_of_tokens.model, price_of_tokens.prompt_tokens, price_of_tokens.completion_tokens
    );
end
$$;

comment on function pgclarify_private.price_of_tokens(pgclarify_private.caller, text, bigint, bigint) is
'US dollars for these tokens at current prices; null if the model has none.';
grant execute on function pgclarify_private.price_of_tokens(pgclarify_private.caller, text, bigint, bigint) to pgclarify_user;
