-- Clarifying: settings, and functions that wait for the answer.

create or replace function pgclarify_private.check_judging(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb := pgclarify_private.check_grouping(check_judging.settings);
    v_top_k constant integer := v_settings -> 'top_k';
    v_max_passages constant integer := v_settings -> 'max_passages';
begin
    if v_settings ->> 'retrieval' = 'fixed' and v_max_passages > v_top_k then
        raise exception 'max_passages must not be more than top_k'
            using errcode = 'invalid_parameter_value',
                column = 'max_passages',
                detail = format('max_passages is %s, and top_k is %s.', v_max_passages, v_top_k),
                hint = 'The first top_k passages are judged and no others: pass a larger top_k, or {"retrieval": "adaptive"}.';
    end if;
    if v_settings ? 'threshold' and not v_settings ? 'ask_back' then
        raise exception 'option "threshold" is for option "ask_back"'
            using errcode = 'invalid_parameter_value',
                column = 'threshold',
                detail = 'Without it, all questions are clarified, ambiguous or not.',
                hint = 'Also pass {"ask_back": "when_vague"}, or omit threshold.';
    end if;
    if v_settings ? 'recall' and v_settings ->> 'retrieval' = 'adaptive' then
        raise exception 'option "recall" is for retrieval "fixed"'
            using errcode = 'invalid_parameter_value',
                column = 'recall',
                detail = 'With "adaptive", verdicts decide how many passages are judged.',
                hint = 'Leave one of the two out.';
    end if;
    if v_settings -> 'batch' = 'true' and v_settings ->> 'retrieval' = 'adaptive' then
        raise exception 'option "batch" is for retrieval "fixed"'
            using errcode = 'invalid_parameter_value',
                column = 'batch',
                detail = 'With "adaptive", verdicts decide which passages are judged next, and each batch may take a day.',
                hint = 'Leave one of the two out.';
    end if;
    -- refresh = 0 is the default. It is dropped, so that the run has the same reuse key as runs without the option.
    return case when v_settings -> 'refresh' = '0' then v_settings - 'refresh' else v_settings end;
end
$$;

comment on function pgclarify_private.check_judging(jsonb) is
'As check_settings, for runs that judge passages, and for estimates of them.';

create or replace function pgclarify_private.enough_passages(ranks integer[], recall double precision, most integer)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    with size as (
        select coalesce(cardinality(enough_passages.ranks), 0) as labels
    ),
    term as (
        -- Logarithm of the ratio of a binomial term to the term before it.
        select
            left_out,
            size.labels * ln(enough_passages.recall) as first,
            case
                when left_out = 0 then 0
                else
                    ln((size.labels - left_out + 1) * (1 - enough_passages.recall) / (left_out * enough_passages.recall))
            end as ratio
        from size
        cross join generate_series(0, size.labels) as left_out
    ),
    summed as (select left_out, first + sum(ratio) over (order by left_out) as term from term),
    -- exp() raises an error below -745.
    tail as (select left_out, sum(exp(greatest(term, -700))) over (order by left_out) as probability from summed)
    select min(smaller.top_k)
    from generate_series(1, enough_passages.most) as smaller (top_k)
    inner join tail
        on tail.left_out = (
            select count(*) from unnest(enough_passages.ranks) as label (rank) where label.rank > smaller.top_k
        )
    where tail.probability <= 0.05;
end;

comment on function pgclarify_private.enough_passages(integer[], double precision, integer) is
'The smallest top_k, up to most, that keeps this share of answers with a risk of 0.05, by the ranks of one answer of each of '
'some questions (tolerance limits: Wilks, 1941); null if the questions are too few.';

create or replace function pgclarify_private.with_recall(
    caller pgclarify_private.caller, run pgclarify_private.run
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := with_recall.run;
    v_top_k constant integer := v_run.settings -> 'top_k';
    v_recall constant double precision := v_run.settings -> 'recall';
    v_ranks integer[];
    v_enough integer;
begin
    if v_recall is null then
        return v_run;
    end if;
    select array_agg(label.rank) into v_ranks
    from (
        -- One answer of each question: those of one question depend on each other.
        select distinct on (recent.question) verdict.rank
        from (
            select asked.*
            from pgclarify_private.run as asked
            where asked.requested_by_oid = pgclarify_private.role_oid((with_recall.caller).name)
            order by asked.run_id desc
            limit 1000
        ) as recent
        inner join pgclarify_private.verdict on verdict.run_id = recent.run_id
        where recent.operation = 'clarify'
            and recent.status = 'succeeded'
            and recent.corpus_id = v_run.corpus_id
            and recent.model in (select present.model from pgclarify_private.serving_workers() as present)
            and verdict.outcome = 'grounded'
            and not recent.settings ? 'ask_back'
            -- The same passages were found, and all of them were read.
            and not exists (
                select
                from unnest(
                    array[
                        'top_k', 'max_passages', 'method', 'relax', 'retrieval', 'reranker', 'verify', 'filter',
                        'document_set'
                    ]
                ) as name
                where recent.settings -> name is distinct from v_run.settings -> name
            )
        order by recent.question, md5(verdict.run_id || '/' || verdict.rank)
    ) as label;
    v_enough := pgclarify_private.enough_passages(v_ranks, v_recall, v_top_k);
    if v_enough is null then
        raise notice 'all % passages are read: too few of your runs say how many are enough', v_top_k
            using detail = format(
                'Of your last 1000 runs, those with these settings found an answer to %s questions; recall %s needs %s.',
                coalesce(cardinality(v_ranks), 0), v_recall, ceil(ln(0.05) / ln(v_recall))
            );
    end if;
    v_run.settings := v_run.settings || jsonb_build_object('asked_top_k', v_top_k, 'top_k', coalesce(v_enough, v_top_k));
    return v_run;
end
$$;

comment on function pgclarify_private.with_recall(pgclarify_private.caller, pgclarify_private.run) is
'A run with as small a top_k as option recall allows, by the verdicts of the caller''s last 1,000 runs with the same settings; '
'asked_top_k is then the one that was asked for. If they are too few, a notice says so, and top_k stays.';

create or replace function pgclarify_private.with_passages_per_call(run pgclarify_private.run)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := with_passages_per_call.run;
    v_most integer := coalesce(
        (v_run.settings -> 'passages_per_call')::integer, pgclarify_private.measured_passages_per_call()
    );
begin
    select least(v_most, corpus.passages_per_call) into v_most
    from pgclarify_private.living_corpus as corpus
    where corpus.corpus_id = v_run.corpus_id;
    -- 1 is left out, so that the run has the same reuse key as runs of 0.3.0.
    v_run.settings := v_run.settings - 'passages_per_call'
        || case when v_most > 1 then jsonb_build_object('passages_per_call', v_most) else '{}' end;
    return v_run;
end
$$;

comment on function pgclarify_private.with_passages_per_call(pgclarify_private.run) is
'A run with the number of passages that a call may have: what option passages_per_call says, or else the trial of the model; '
'at most what its corpus allows.';

create or replace function pgclarify_private.prepare_clarification(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.with_recall(
        prepare_clarification.caller,
        pgclarify_private.with_passages_per_call(
            pgclarify_private.prepare_question(
                prepare_clarification.caller, prepare_clarification.run, prepare_clarification.parameters
            )
        )
    );
end;

comment on function pgclarify_private.prepare_clarification(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for clarify.';

create or replace function pgclarify_private.clarify(
    caller pgclarify_private.caller, timeout interval, parameters jsonb, options jsonb
)
returns setof pgclarify.clarification
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Reading a stored answer takes less time than planning it, or than making JSON of it.
set plan_cache_mode = 'force_generic_plan'
as $$
declare
    v_run_ids constant bigint[] := pgclarify_private.ask_one(
        clarify.caller,
        pgclarify_private.prepare(clarify.caller, 'clarify', clarify.parameters, clarify.options),
        clarify.timeout
    );
begin
    return query
    select seen.*
    from pgclarify_private.current_clarifications(
        v_run_ids, (clarify.caller).name, clarify.options ->> 'include'
    ) as seen;
end
$$;

comment on function pgclarify_private.clarify(pgclarify_private.caller, interval, jsonb, jsonb) is
'See clarify. parameters: those of clarify but timeout.';
grant execute on function pgclarify_private.clarify(pgclarify_private.caller, interval, jsonb, jsonb) to pgclarify_user;

create or replace function pgclarify_private.clarify_many(
    caller pgclarify_private.caller,
    questions text[],
    keys text[],
    timeout interval,
    filters jsonb[],
    parameters jsonb,
    options jsonb
)
returns setof pgclarify.question_clarification
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
    v_questions constant text[] := pgclarify_private.check_questions(clarify_many.questions);
    v_run_ids bigint[];
begin
    if cardinality(clarify_many.filters) <> cardinality(v_questions) then
        perform pgclarify_private.raise_other_number_of_filters(cardinality(clarify_many.filters), cardinality(v_questions));
    end if;
    if clarify_many.keys is not null and cardinality(clarify_many.keys) <> cardinality(v_questions) then
        raise exception 'there must be as many keys as questions'
            using errcode = 'invalid_parameter_value',
                column = 'keys',
                detail = format('Keys: %s. Questions: %s.', cardinality(clarify_many.keys), cardinality(v_questions)),
                hint = 'Aggregate both from the same rows in the same order, or omit keys.';
    end if;
    v_run_ids := pgclarify_private.ask(
        clarify_many.caller,
        pgclarify_private.prepare(
            clarify_many.caller,
            'clarify',
            clarify_many.parameters || jsonb_build_object('question', v_questions[1], 'filters', clarify_many.filters),
            clarify_many.options
        ),
        v_questions,
        clarify_many.timeout
    );
    perform pgclarify_private.warn_of_partial(v_run_ids);
    return query
    with outcome as materialized (
        select distinct seen.run_id, seen.status, seen.stop_code
        from pgclarify_private.current_outcomes(v_run_ids) as seen
    ),
    reading as materialized (
        select seen.*
        from pgclarify_private.current_clarifications(
            array(select distinct asked.run_id from unnest(v_run_ids) as asked (run_id)), (clarify_many.caller).name,
            clarify_many.options ->> 'include'
        ) as seen
    )
    select shown.*
    -- Not keys[ordinal], because the first key may have another index than 1.
    from unnest(v_questions, v_run_ids, clarify_many.keys) with ordinality as asked (question, run_id, key, ordinal)
    inner join outcome on outcome.run_id = asked.run_id
    left join reading on reading.run_id = asked.run_id
    cross join lateral pgclarify_private.question_reading(
        asked.ordinal, asked.key, asked.question, asked.run_id, outcome.status, outcome.stop_code,
        reading::pgclarify.clarification
    ) as shown
    where reading.run_id is not null or outcome.status <> 'succeeded' or outcome.stop_code <> 'not_answered'
    order by asked.ordinal, reading.ordinal;
end
$$;

comment on function pgclarify_private.clarify_many(
    pgclarify_private.caller, text[], text[], interval, jsonb[], jsonb, jsonb
) is 'See clarify_many.';
grant execute on function pgclarify_private.clarify_many(
    pgclarify_private.caller, text[], text[], interval, jsonb[], jsonb, jsonb
) to pgclarify_user;
