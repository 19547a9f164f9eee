-- What evaluations and estimates may know of the ledger: how many tokens calls needed, but neither inputs nor replies.

create or replace function pgclarify_private.tokens_by_purpose(model text)
returns table (purpose text, prompt_tokens double precision, completion_tokens double precision, calls bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- For a model that was never called, or not for a long time, the whole ledger must not be read.
    v_looked_at constant bigint := 50000;
    v_last bigint;
begin
    select max(completion.completion_id) into v_last from pgclarify_private.completion;
    return query
    select
        latest.purpose, round(avg(latest.prompt_tokens))::double precision,
        round(avg(latest.completion_tokens))::double precision, count(*)
    from (
        select completion.purpose, completion.prompt_tokens, completion.completion_tokens
        from pgclarify_private.completion
        where completion.completion_id > v_last - v_looked_at
            and completion.model = tokens_by_purpose.model
            and completion.prompt_tokens is not null
            and completion.completion_tokens is not null
        order by completion.completion_id desc
        -- Enough for a mean.
        limit 10000
    ) as latest
    group by latest.purpose;
end
$$;

comment on function pgclarify_private.tokens_by_purpose(text) is
'Mean tokens of the latest 10,000 calls of a model, by purpose, in whole tokens, for all payers; only among the last 50,000 '
'rows of the ledger. Calls with earlier versions of a prompt count, too, because a new version changes few tokens.';

create or replace function pgclarify_private.token_averages(caller pgclarify_private.caller, model text)
returns table (purpose text, prompt_tokens double precision, completion_tokens double precision, calls bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.verify_caller(token_averages.caller);
    return query
    select known.* from pgclarify_private.tokens_by_purpose(token_averages.model) as known;
end
$$;

comment on function pgclarify_private.token_averages(pgclarify_private.caller, text) is
'As tokens_by_purpose, for the role that evaluates.';
grant execute on function pgclarify_private.token_averages(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify_private.verdict_tokens(caller pgclarify_private.caller, run_id bigint)
returns table (rank integer, prompt_tokens integer, completion_tokens integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.visible_run(verdict_tokens.caller, verdict_tokens.run_id);
begin
    return query
    select verdict.rank, coalesce(completion.prompt_tokens, 0), coalesce(completion.completion_tokens, 0)
    from pgclarify_private.verdict
    left join pgclarify_private.completion on verdict.completion_id = completion.completion_id
    where verdict.run_id = v_run.run_id;
end
$$;

comment on function pgclarify_private.verdict_tokens(pgclarify_private.caller, bigint) is
'Tokens of the reply that each verdict of a run was read from, 0 without one; for callers who may see the run.';
grant execute on function pgclarify_private.verdict_tokens(pgclarify_private.caller, bigint) to pgclarify_reader;
