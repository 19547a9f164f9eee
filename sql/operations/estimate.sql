-- Estimating the cost of questions. No language model is called. This file knows which questions already have answers. Only a
-- worker can say what the others would ask, because it has the embedding model and the prompts.

create or replace function pgclarify_private.known_completions(run_id bigint, attempt integer, calls jsonb)
returns table (
    ordinal integer,
    reply text,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms real,
    finish_reason text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.running_attempt(known_completions.run_id, known_completions.attempt);
begin
    return query
    select asked.ordinal, known.reply, known.prompt_tokens, known.completion_tokens, known.latency_ms,
        known.finish_reason
    from unnest(pgclarify_private.read_calls(known_completions.calls, v_run.run_id, null)) as asked
    inner join pgclarify_private.completion as known on pgclarify_private.is_of_call(known, asked)
    where known.reply is not null;
end
$$;

comment on function pgclarify_private.known_completions(bigint, integer, jsonb) is
'Look inputs up in the ledger, for a run that pays for nothing: a row for each input with a reply. Nothing is leased. calls: '
'as in read_calls.';
grant execute on function pgclarify_private.known_completions(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_estimate(run_id bigint, attempt integer, seen jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Assumed bytes of a token and tokens of a reply, if the ledger has no call with the same purpose.
    v_token_bytes constant integer := 4;
    v_reply_tokens constant integer := 60;
    -- About the tokens of a joint call without its passages.
    v_joint_tokens constant integer := 600;
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_estimate.run_id, record_estimate.attempt);
    v_distinct bigint := v_run.settings -> 'distinct_questions';
    v_answered bigint := v_run.settings -> 'answered';
    v_sampled bigint := record_estimate.seen -> 'sampled';
    -- Null if no question was sampled.
    v_scale numeric := (v_distinct - v_answered)::numeric / nullif(v_sampled, 0);
    v_calls bigint;
    v_reused_calls bigint;
    v_prompt_tokens bigint;
    v_completion_tokens bigint;
    v_cost_usd numeric;
begin
    with asked as materialized (
        select * from jsonb_to_recordset(record_estimate.seen -> 'purposes') as given (
            purpose text, model text, calls bigint, reused_calls bigint, input_bytes bigint, documents bigint
        )
    ),
    by_model as (
        select
            asked.model,
            called.is_batched,
            round(v_scale * sum(asked.calls)) as calls,
            round(v_scale * sum(asked.reused_calls)) as reused_calls,
            round(
                v_scale * sum(
                    coalesce(
                        by_size.prompt_tokens, asked.calls * known.prompt_tokens,
                        asked.input_bytes::double precision / v_token_bytes
                    )
                )::numeric
            )::bigint as prompt_tokens,
            round(
                v_scale * sum(
                    coalesce(
                        by_size.completion_tokens,
                        asked.calls * coalesce(
                            known.completion_tokens,
                            -- A reranker has no output tokens.
                            case when asked.purpose = 'reranking' then 0 else v_reply_tokens end
                        )
                    )
                )::numeric
            )::bigint as completion_tokens
        from asked
        left join (
            select named.model, means.*
            from (select distinct asked.model from asked) as named
            cross join lateral pgclarify_private.tokens_by_purpose(named.model) as means
        ) as known on known.model = asked.model and known.purpose = asked.purpose
        left join lateral (
            -- How many passages a joint call has depends on the settings and on what is known of the others.
            select
                asked.calls * v_joint_tokens
                + greatest(known.prompt_tokens - v_joint_tokens, 0) * asked.documents / known.documents as prompt_tokens,
                known.completion_tokens * asked.documents / known.documents as completion_tokens
            where asked.purpose = 'joint_verdicts' and known.documents > 0
        ) as by_size on true
        cross join lateral (
            select
                asked.purpose in ('verdict', 'joint_verdicts')
                and coalesce((v_run.settings -> 'batch')::boolean, false) as is_batched
        ) as called
        group by asked.model, called.is_batched
    ),
    priced as (
        select
            by_model.*,
            case
                when by_model.calls = 0 then 0
                else
                    pgclarify_private.cost_usd(by_model.model, by_model.prompt_tokens, by_model.completion_tokens)
                    * pgclarify_private.price_share(by_model.is_batched)
            end as cost_usd
        from by_model
    )
    select
        coalesce(sum(priced.calls), 0), coalesce(sum(priced.reused_calls), 0), coalesce(sum(priced.prompt_tokens), 0),
        coalesce(sum(priced.completion_tokens), 0),
        -- Unknown if the price of one model is unknown.
        case when coalesce(bool_and(priced.cost_usd is not null), true) then coalesce(sum(priced.cost_usd), 0) end
    into v_calls, v_reused_calls, v_prompt_tokens, v_completion_tokens, v_cost_usd
    from priced;
    -- A worker sends it again if it does not know whether it was stored.
    delete from pgclarify_private.estimate where estimate.run_id = v_run.run_id;
    insert into pgclarify_private.estimate (
        run_id, questions, distinct_questions, answered, sampled, calls, calls_at_most, reused_calls, prompt_tokens,
        completion_tokens, cost_usd
    )
    select
        v_run.run_id, (v_run.settings -> 'questions')::bigint, v_distinct, v_answered, v_sampled, v_calls,
        greatest(
            v_calls,
            (record_estimate.seen -> 'calls_at_most')::bigint
            + (v_distinct - v_answered - v_sampled) * (record_estimate.seen -> 'calls_at_most_each')::bigint
        ),
        v_reused_calls, v_prompt_tokens, v_completion_tokens, v_cost_usd;
end
$$;

comment on function pgclarify_private.record_estimate(bigint, integer, jsonb) is
'Store the result of a run of estimate. seen: object with sampled (number of sampled questions), purposes (of their calls: '
'array of objects with purpose, model, calls, reused_calls, input_bytes and documents), calls_at_most (of the sample together) '
'and calls_at_most_each (of any question). The result is scaled up to all questions without an answer.';
grant execute on function pgclarify_private.record_estimate(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.prepare_estimate(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := prepare_estimate.run;
    v_requester constant name := (prepare_estimate.caller).name;
    v_roles constant name[] := pgclarify_private.roles_of(v_requester);
    v_questions constant text[] := pgclarify_private.check_questions(
        array(select jsonb_array_elements_text(nullif(prepare_estimate.parameters -> 'questions', 'null')))
    );
    v_most_examined constant integer := 200;
    v_corpus constant pgclarify_private.corpus := pgclarify_private.find_corpus(
        v_roles, prepare_estimate.parameters ->> 'corpus'
    );
    v_reuses constant boolean := pgclarify_private.is_on('pgclarify.reuse_runs', true);
    v_distinct bigint;
    v_answered bigint;
    v_sample text[];
begin
    v_run.corpus_id := v_corpus.corpus_id;
    v_run := pgclarify_private.with_recall(
        prepare_estimate.caller, pgclarify_private.with_passages_per_call(v_run)
    );
    -- All together: there may be a million of them.
    with asked as materialized (
        select distinct given.question from unnest(v_questions) as given (question)
    ),
    answered as materialized (
        select known.question
        from pgclarify_private.find_reusable_runs(
            v_corpus.corpus_id, 'clarify', array(select asked.question from asked), pgclarify_private.without_ids(v_run.settings),
            v_requester, v_roles
        ) as known
        where v_reuses
    )
    select
        (select count(*) from asked),
        (select count(*) from answered),
        array(
            select asked.question
            from asked
            where not exists (select from answered where answered.question = asked.question)
            -- A pseudorandom sample, but always the same: so a difference between two estimates has another reason.
            order by sha256(convert_to(asked.question, 'UTF8'))
            limit v_most_examined
        )
    into v_distinct, v_answered, v_sample;
    v_run.question := to_jsonb(v_sample)::text;
    v_run.settings := v_run.settings || jsonb_build_object(
        'questions', cardinality(v_questions), 'distinct_questions', v_distinct, 'answered', v_answered
    );
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_estimate(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for estimate: the run examines a sample of the questions. Its question is an empty array if all of them have '
'answers. Its settings are checked as for clarify, because the estimate is for runs of clarify.';
