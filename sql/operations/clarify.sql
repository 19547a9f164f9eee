-- Clarifying: functions that wait for the answer.

create or replace function pgclarify_private.clarify(
    caller pgclarify_private.caller, parameters jsonb, timeout interval, options jsonb
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
    from pgclarify_private.current_rows(null::pgclarify.clarification, v_run_ids, (clarify.caller).name) as seen;
end
$$;

comment on function pgclarify_private.clarify(pgclarify_private.caller, jsonb, interval, jsonb) is
'See clarify. parameters: those of clarify but timeout.';
grant execute on function pgclarify_private.clarify(pgclarify_private.caller, jsonb, interval, jsonb) to pgclarify_user;

create or replace function pgclarify.clarify(
    question text,
    corpus text default null,
    top_k integer default 20,
    timeout interval default '60s',
    options jsonb default '{}'
)
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.clarify(
        caller,
        jsonb_build_object('question', clarify.question, 'corpus', clarify.corpus, 'top_k', clarify.top_k),
        clarify.timeout,
        clarify.options
    ) as seen;
end;

comment on function pgclarify.clarify(text, text, integer, interval, jsonb) is
'The readings of a vague question that the corpus answers, each with its answer and the documents that it cites; no row if '
'the corpus answers none. If that is unknown, a warning says why no reading was found. question: 1 to 10,000 characters. '
'corpus: its name; null means pgclarify.corpus, or the only one. top_k: passages to judge, 1 to 1000. timeout: how long to '
'wait; null waits without limit. options: method (hybrid, dense, lexical), consolidation (default; conservative, which shows '
'the readings that are likely right, best first; hdbscan), singletons (keep, drop), '
'verify (checks: the words of a passage must support a reading; reader: the trained reader must also confirm it; model: '
'the language model must also confirm it; none: the passage must contain the quote), retrieval (fixed; adaptive, where '
'the verdicts decide which passages are judged and how many), max_passages (most passages to judge; top_k), reranker '
'(signal, model, endpoint: and a name, or a CrossEncoder), ask_back (when_vague: a clear question is answered in one '
'pass, and only an ambiguous one is clarified), threshold (a question is ambiguous if its probability is at least this, 0 '
'to 1), refresh (0 to 1,000,000: a new number asks the model again; 0), batch (true: the passages are judged within a day '
'at half the price; for submit and dbt).';
grant execute on function pgclarify.clarify(text, text, integer, interval, jsonb) to pgclarify_user;

create or replace function pgclarify_private.clarify_many(
    caller pgclarify_private.caller,
    questions text[],
    keys text[],
    corpus text,
    top_k integer,
    timeout interval,
    options jsonb
)
returns setof pgclarify.question_clarification
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
    v_questions constant text[] := pgclarify_private.check_questions(clarify_many.questions);
    v_run constant pgclarify_private.run := pgclarify_private.prepare(
        clarify_many.caller,
        'clarify',
        jsonb_build_object('question', v_questions[1], 'corpus', clarify_many.corpus, 'top_k', clarify_many.top_k),
        clarify_many.options
    );
    v_run_ids bigint[];
begin
    if clarify_many.keys is not null and cardinality(clarify_many.keys) <> cardinality(v_questions) then
        raise exception 'there must be as many keys as questions'
            using errcode = 'invalid_parameter_value',
                column = 'keys',
                detail = format('Keys: %s. Questions: %s.', cardinality(clarify_many.keys), cardinality(v_questions)),
                hint = 'Aggregate both from the same rows in the same order, or omit keys.';
    end if;
    v_run_ids := pgclarify_private.ask(clarify_many.caller, v_run, v_questions, clarify_many.timeout);
    perform pgclarify_private.warn_of_partial(v_run_ids);
    return query
    with outcome as materialized (
        select distinct seen.run_id, seen.status, seen.stop_code
        from pgclarify_private.current_rows(null::pgclarify.run_outcome, v_run_ids, null) as seen
    ),
    reading as materialized (
        select seen.*
        from pgclarify_private.current_rows(
            null::pgclarify.clarification,
            array(select distinct asked.run_id from unnest(v_run_ids) as asked (run_id)),
            (clarify_many.caller).name
        ) as seen
    )
    select
        asked.ordinal::integer, asked.key, asked.question, asked.run_id, outcome.status,
        reading.ordinal, reading.interpretation, reading.answer, reading.support, reading.cohesion,
        reading.document_ids, reading.citations, reading.is_contested, outcome.stop_code
    -- Not keys[ordinal], because the first key may have another index than 1.
    from unnest(v_questions, v_run_ids, clarify_many.keys) with ordinality as asked (question, run_id, key, ordinal)
    inner join outcome on outcome.run_id = asked.run_id
    left join reading on reading.run_id = asked.run_id
    where reading.run_id is not null or outcome.status <> 'succeeded' or outcome.stop_code <> 'not_answered'
    order by asked.ordinal, reading.ordinal;
end
$$;

comment on function pgclarify_private.clarify_many(
    pgclarify_private.caller, text[], text[], text, integer, interval, jsonb
) is 'See clarify_many.';
grant execute on function pgclarify_private.clarify_many(
    pgclarify_private.caller, text[], text[], text, integer, interval, jsonb
) to pgclarify_user;

create or replace function pgclarify.clarify_many(
    questions text[],
    keys text[] default null,
    corpus text default null,
    top_k integer default 20,
    timeout interval default null,
    options jsonb default '{}'
)
returns setof pgclarify.question_clarification
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.clarify_many(
        caller, clarify_many.questions, clarify_many.keys, clarify_many.corpus, clarify_many.top_k,
        clarify_many.timeout, clarify_many.options
    ) as seen;
end;

comment on function pgclarify.clarify_many(text[], text[], text, integer, interval, jsonb) is
'clarify for many questions at once; equal questions are asked once. A question that the corpus does not answer has no row. A '
'question has one row with status and stop_code, and null in between, if its run failed, was cancelled, is partial without a '
'reading, or found nothing although the corpus may have an answer. questions: the questions. keys: your own key of each, '
'returned as question_key. timeout: for all together; null waits without limit. The rest as in clarify.';
grant execute on function pgclarify.clarify_many(
    text[], text[], text, integer, interval, jsonb
) to pgclarify_user;

create or replace function pgclarify.consolidate(run_id bigint, options jsonb default '{}')
returns setof pgclarify.clarification
language sql volatile
set search_path = pg_catalog, pg_temp
rows 5
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.clarification,
        pgclarify_private.start_and_wait(
            caller,
            'consolidate',
            jsonb_build_object('run_id', consolidate.run_id),
            consolidate.options
        )
    ) as seen;
end;

comment on function pgclarify.consolidate(bigint, jsonb) is
'Cluster the verdicts of a run again, without a model call; returns rows as clarify does, in a new run. run_id: a clarify '
'run that you may see, of a corpus that you may search. options: consolidation (default; conservative, which shows the '
'readings that are likely right, best first; hdbscan), singletons (keep, drop), timeout (60s).';
grant execute on function pgclarify.consolidate(bigint, jsonb) to pgclarify_user;
