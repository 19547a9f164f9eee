-- Executing runs: functions that workers call. Every write names the attempt, so a worker that lost a run cannot write to it.

create or replace function pgclarify_private.start_run(run_id bigint, worker_id bigint, is_alone boolean default false)
returns table (
    must_be_alone boolean,
    attempt integer,
    operation text,
    question text,
    settings jsonb,
    corpus_id bigint,
    embedding_model text,
    dimensions integer,
    parent_run_id bigint,
    error_code text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- After this many crashes, a run is executed alone: only crashes while it was alone can fail it.
    v_alone_from constant integer := 2;
    v_most_crashes constant integer := 10;
    v_run pgclarify_private.run;
    v_roles name[];
    v_error text;
    v_error_code text;
    v_lock_timeout constant text := current_setting('lock_timeout');
begin
    -- It does not wait for the lock: an open transaction may keep it for long. The run is tried again later.
    select run.* into v_run from pgclarify_private.run where run.run_id = start_run.run_id for update nowait;
    if not found then
        return;
    end if;
    if v_run.status not in ('queued', 'running') then
        -- Another transaction may have locked it when its last reply was stored, and when its attempt ended.
        perform pgclarify_private.settle_runs(array[v_run.run_id]);
        return;
    end if;
    if start_run.is_alone and v_run.status = 'running' then
        -- Another worker has taken it meanwhile.
        return;
    end if;
    -- While a document is being erased, a run could still read it. The transaction that erases may stay open for long. But a
    -- worker that updates the counts of the corpus has the same lock for milliseconds.
    perform set_config('lock_timeout', '100ms', true);
    perform from pgclarify_private.corpus where corpus.corpus_id = v_run.corpus_id for share;
    perform set_config('lock_timeout', v_lock_timeout, true);
    v_roles := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    if v_run.corpus_id is null and v_run.corpus_name is not null then
        v_error := 'the corpus was dropped';
        v_error_code := '42704';
    elsif v_run.corpus_id is not null and not exists (
        select from pgclarify_private.visible_corpora(v_roles) as visible where visible.corpus_id = v_run.corpus_id
    ) then
        v_error := 'the role that asked may not search the corpus any more';
        v_error_code := '42501';
    elsif v_run.crashes >= v_most_crashes then
        v_error := format(
            '%s workers in a row were lost while they carried it out, the last %s while they carried out nothing else',
            v_run.crashes, v_run.crashes - v_alone_from
        );
        v_error_code := 'PC016';
    else
        select 'the corpus cannot be searched: ' || space.error, 'PC011' into v_error, v_error_code
        from pgclarify_private.corpus
        inner join pgclarify_private.embedding_space as space on space.corpus_id = corpus.corpus_id
        where corpus.corpus_id = v_run.corpus_id and corpus.embedding_space_id is null and space.error is not null
        order by space.embedding_space_id desc
        limit 1;
    end if;
    if v_error is not null then
        update pgclarify_private.run
        set
            status = 'failed', error = v_error, error_code = v_error_code, finished_at = clock_timestamp(),
            -- So that a worker that still executes an earlier attempt finds that it has lost the run.
            attempt = run.attempt + 1
        where run.run_id = start_run.run_id;
        perform pgclarify_private.settle_runs(array[start_run.run_id]);
        return query
        select
            false, null::integer, v_run.operation, null::text, null::jsonb, null::bigint, null::text, null::integer,
            null::bigint, v_error_code;
        return;
    end if;
    if pgclarify_private.prefers_language_model(v_run)
    and exists (
        select from pgclarify_private.worker
        where worker.worker_id = start_run.worker_id and worker.provider = 'extractive'
    )
    and exists (select from pgclarify_private.serving_workers() as serving where serving.provider <> 'extractive') then
        raise exception 'run % is for a worker with a language model', v_run.run_id
            using errcode = 'lock_not_available',
                detail = 'This worker has none, and another one that is running has.',
                hint = 'The other worker will execute it.';
    end if;
    if start_run.worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living) then
        raise exception 'worker % counts as dead', start_run.worker_id
            using errcode = 'lock_not_available',
                detail = 'Its lease has expired.',
                hint = 'Register it again.';
    end if;
    if v_run.crashes >= v_alone_from and not start_run.is_alone then
        return query
        select
            true, null::integer, null::text, null::text, null::jsonb, null::bigint, null::text, null::integer, null::bigint,
            null::text;
        return;
    end if;
    -- Rows of an earlier attempt; its paid replies are in the ledger.
    delete from pgclarify_private.candidate where candidate.run_id = start_run.run_id;
    delete from pgclarify_private.step where step.run_id = start_run.run_id;
    delete from pgclarify_private.detection where detection.run_id = start_run.run_id;
    delete from pgclarify_private.rewriting where rewriting.run_id = start_run.run_id;
    delete from pgclarify_private.clarifying_question where clarifying_question.run_id = start_run.run_id;
    delete from pgclarify_private.listed_answer where listed_answer.run_id = start_run.run_id;
    delete from pgclarify_private.citation where citation.run_id = start_run.run_id;
    return query
    update pgclarify_private.run
    set
        status = 'running',
        attempt = run.attempt + 1,
        worker_id = worker.worker_id,
        model = worker.model,
        prompt_version = worker.prompt_version,
        corpus_revision = seen.revision,
        -- By the current rights of the role, which also decide what it is shown.
        reuse_key = pgclarify_private.reuse_key(
            run.operation, run.corpus_id, run.question, pgclarify_private.with_history(run.settings, run.history),
            run.requested_by, v_roles
        ),
        graph_revision = seen.graph_revision,
        -- The vector may be of the question that that attempt relaxed.
        relaxed_question = null,
        question_vector = null,
        embedding_model = null,
        route = null,
        saved_completions = null,
        started_at = clock_timestamp()
    from pgclarify_private.worker
    left join pgclarify_private.seen_revision(v_run.corpus_id, v_roles) as seen on true
    left join pgclarify_private.corpus on corpus.corpus_id = v_run.corpus_id
    left join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
    where run.run_id = start_run.run_id and worker.worker_id = start_run.worker_id
    returning
        false, run.attempt, run.operation, run.question, pgclarify_private.with_history(run.settings, run.history),
        run.corpus_id,
        space.model, space.dimensions, run.parent_run_id, null::text;
end
$$;

comment on function pgclarify_private.start_run(bigint, bigint, boolean) is
'Start an attempt of a run, and return what the worker needs; no row if it was cancelled or has ended. If it cannot be '
'executed, it fails here, and the row has only its operation and error_code. '
'must_be_alone: true, with nulls otherwise, if two workers in a row were lost while they executed it: call again with '
'is_alone while the worker executes and starts no other run. settings include the history, as in with_history. A run without '
'a corpus has no corpus_id, embedding_model and dimensions. Error 55P03 if another transaction has locked it, if the worker '
'counts as dead, or if it needs a language model that this worker lacks and another live worker has.';
grant execute on function pgclarify_private.start_run(bigint, bigint, boolean) to pgclarify_worker;

create or replace function pgclarify_private.record_relaxation(run_id bigint, attempt integer, relaxed_question text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.lock_run(record_relaxation.run_id, record_relaxation.attempt);
    update pgclarify_private.run
    set relaxed_question = record_relaxation.relaxed_question
    where run.run_id = record_relaxation.run_id;
end
$$;

comment on function pgclarify_private.record_relaxation(bigint, integer, text) is 'Store the relaxed question of a run.';
grant execute on function pgclarify_private.record_relaxation(bigint, integer, text) to pgclarify_worker;

create or replace function pgclarify_private.record_verdicts(
    run_ids bigint[],
    attempts integer[],
    ranks integer[],
    outcomes text[],
    interpretations text[],
    answers text[],
    quotes text[],
    start_chars integer[],
    end_chars integer[],
    vectors text[],
    completion_ids bigint[],
    are_reused boolean[],
    reasons text[],
    errors text[],
    abstention_codes text[],
    error_codes text[]
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_running bigint[];
begin
    -- In the order of ids, so that two workers do not deadlock.
    with locked as (
        select run.run_id
        from pgclarify_private.run
        inner join (
            select distinct given.run_id, given.attempt
            from unnest(record_verdicts.run_ids, record_verdicts.attempts) as given (run_id, attempt)
        ) as given on given.run_id = run.run_id and given.attempt = run.attempt
        where run.status = 'running'
        order by run.run_id
        for key share of run
    )
    select coalesce(array_agg(locked.run_id), '{}') into v_running from locked;
    insert into pgclarify_private.verdict (
        run_id, rank, outcome, interpretation, answer, quote, start_char, end_char, vector, completion_id, is_reused,
        reason, error, abstention_code, error_code
    )
    select
        given.run_id, given.rank, given.outcome, given.interpretation, given.answer, given.quote, given.start_char,
        given.end_char, given.vector::@extschema:vector@.halfvec, given.completion_id, given.is_reused, given.reason,
        given.error, given.abstention_code, given.error_code
    from unnest(
        record_verdicts.run_ids, record_verdicts.ranks, record_verdicts.outcomes, record_verdicts.interpretations,
        record_verdicts.answers, record_verdicts.quotes, record_verdicts.start_chars, record_verdicts.end_chars,
        record_verdicts.vectors, record_verdicts.completion_ids, record_verdicts.are_reused,
        record_verdicts.reasons, record_verdicts.errors, record_verdicts.abstention_codes, record_verdicts.error_codes
    ) as given (
        run_id, rank, outcome, interpretation, answer, quote, start_char, end_char, vector, completion_id, is_reused,
        reason, error, abstention_code, error_code
    )
    where given.run_id = any(v_running)
    on conflict on constraint verdict_pk do update
    set
        outcome = excluded.outcome,
        interpretation = excluded.interpretation,
        answer = excluded.answer,
        quote = excluded.quote,
        start_char = excluded.start_char,
        end_char = excluded.end_char,
        vector = excluded.vector,
        completion_id = excluded.completion_id,
        is_reused = excluded.is_reused,
        reason = excluded.reason,
        error = excluded.error,
        abstention_code = excluded.abstention_code,
        error_code = excluded.error_code;
    return v_running;
end
$$;

comment on function pgclarify_private.record_verdicts(
    bigint[], integer[], integer[], text[], text[], text[], text[], integer[], integer[], text[], bigint[],
    boolean[], text[], text[], text[], text[]
) is
'Store verdicts of several runs as they arrive, and return the runs that are still executed in the given attempts; verdicts '
'of other runs are discarded.';
grant execute on function pgclarify_private.record_verdicts(
    bigint[], integer[], integer[], text[], text[], text[], text[], integer[], integer[], text[], bigint[],
    boolean[], text[], text[], text[], text[]
) to pgclarify_worker;

create or replace function pgclarify_private.copy_verdicts(run_id bigint, attempt integer)
returns table (
    rank integer,
    document_id text,
    passage_id bigint,
    title text,
    heading text,
    content text,
    interpretation text,
    answer text,
    quote text,
    start_char integer,
    end_char integer,
    vector text,
    completion_id bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(copy_verdicts.run_id, copy_verdicts.attempt);
    v_document_ids text[];
    v_passage_ids bigint[];
begin
    insert into pgclarify_private.candidate
    (run_id, rank, corpus_id, document_id, passage_id, heading, score, origin, via_passage_id, batch)
    select
        v_run.run_id, candidate.rank, candidate.corpus_id, candidate.document_id, candidate.passage_id,
        candidate.heading, candidate.score, candidate.origin, candidate.via_passage_id, candidate.batch
    from pgclarify_private.candidate
    where candidate.run_id = v_run.parent_run_id;
    insert into pgclarify_private.verdict (
        run_id, rank, outcome, interpretation, answer, quote, start_char, end_char, vector, completion_id, is_reused,
        reason, error, abstention_code, error_code
    )
    select
        v_run.run_id, verdict.rank, verdict.outcome, verdict.interpretation, verdict.answer, verdict.quote,
        verdict.start_char, verdict.end_char, verdict.vector, verdict.completion_id, true, verdict.reason, verdict.error,
        verdict.abstention_code, verdict.error_code
    from pgclarify_private.verdict
    where verdict.run_id = v_run.parent_run_id;
    select array_agg(candidate.document_id), array_agg(candidate.passage_id) into v_document_ids, v_passage_ids
    from pgclarify_private.verdict
    inner join pgclarify_private.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
    where verdict.run_id = v_run.run_id and verdict.outcome = 'grounded';
    return query execute format(
        $sql$
        -- A separate step: Citus does not join the shards of passages with tables of the coordinator.
        with passage as materialized (
            select passage.document_id, passage.id, passage.content
            from %s as passage
            inner join unnest($2, $3) as cited (document_id, passage_id)
                on passage.document_id = cited.document_id and passage.id = cited.passage_id
            where passage.corpus_id = $4
        )
        select
            verdict.rank, candidate.document_id, candidate.passage_id, document.title, candidate.heading,
            coalesce(passage.content, ''), verdict.interpretation, verdict.answer, verdict.quote, verdict.start_char,
            verdict.end_char, verdict.vector::text, verdict.completion_id
        from pgclarify_private.verdict
        inner join pgclarify_private.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
        left join passage on passage.document_id = candidate.document_id and passage.id = candidate.passage_id
        left join pgclarify_private.document
            on document.corpus_id = candidate.corpus_id and document.id = candidate.document_id
        where verdict.run_id = $1 and verdict.outcome = 'grounded'
        order by verdict.rank
        $sql$,
        pgclarify_private.passages_of(v_run.corpus_id)
    ) using v_run.run_id, v_document_ids, v_passage_ids, v_run.corpus_id;
end
$$;

comment on function pgclarify_private.copy_verdicts(bigint, integer) is
'Copy candidates and verdicts of the parent run into a run, and return the grounded ones with their passages.';
grant execute on function pgclarify_private.copy_verdicts(bigint, integer) to pgclarify_worker;

create or replace function pgclarify_private.record_citations(run_id bigint, items jsonb)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.citation (
        run_id, ordinal, rank, candidate_rank, corpus_id, document_id, passage_id, heading, is_medoid, quote, start_char,
        end_char
    )
    select
        record_citations.run_id, coalesce((item.value -> 'ordinal')::integer, item.place), cited.rank, citation.candidate_rank,
        candidate.corpus_id, candidate.document_id, candidate.passage_id, candidate.heading, citation.is_medoid,
        citation.quote, citation.start_char, citation.end_char
    from jsonb_array_elements(record_citations.items) with ordinality as item (value, place)
    cross join lateral jsonb_array_elements(item.value -> 'citations') with ordinality as cited (value, rank)
    cross join lateral jsonb_to_record(cited.value) as citation (
        candidate_rank integer, is_medoid boolean, quote text, start_char integer, end_char integer
    )
    -- A missing candidate violates a constraint.
    left join pgclarify_private.candidate
        on candidate.run_id = record_citations.run_id and candidate.rank = citation.candidate_rank;
end;

comment on function pgclarify_private.record_citations(bigint, jsonb) is
'Store the citations of results of a run. items: array of objects with ordinal (the place in the array if missing) and '
'citations: array of objects with candidate_rank, quote, start_char, end_char and, for an interpretation, is_medoid, in order.';

create or replace function pgclarify_private.finish_run(
    run_id bigint,
    attempt integer,
    status text,
    error text,
    error_code text,
    interpretations jsonb,
    stages jsonb,
    stop_reason text,
    stop_code text,
    budget_id bigint
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(finish_run.run_id, finish_run.attempt);
    v_stop_code text;
begin
    insert into pgclarify_private.interpretation (
        run_id, ordinal, interpretation, answer, support, cohesion, is_contested
    )
    select
        v_run.run_id, given.ordinal, reading.interpretation, reading.answer, reading.support, reading.cohesion,
        reading.is_contested
    from jsonb_array_elements(finish_run.interpretations) with ordinality as given (value, ordinal)
    cross join lateral jsonb_to_record(given.value) as reading (
        interpretation text, answer text, support integer, cohesion real, is_contested boolean
    );
    perform pgclarify_private.record_citations(v_run.run_id, finish_run.interpretations);
    insert into pgclarify_private.stage (
        run_id, ordinal, name, batch, step_ordinal, started_at, duration_ms, rows, calls, reused_calls, prompt_tokens,
        completion_tokens, reused_prompt_tokens, reused_completion_tokens, model_ms, note
    )
    select
        v_run.run_id, given.ordinal, stage.name, stage.batch, stage.step_ordinal, stage.started_at, stage.duration_ms,
        stage.rows, stage.calls, stage.reused_calls, stage.prompt_tokens, stage.completion_tokens,
        coalesce(stage.reused_prompt_tokens, 0), coalesce(stage.reused_completion_tokens, 0),
        coalesce(stage.model_ms, 0), stage.note
    from jsonb_array_elements(finish_run.stages) with ordinality as given (value, ordinal)
    cross join lateral jsonb_to_record(given.value) as stage (
        name text, batch integer, step_ordinal integer, started_at timestamptz, duration_ms real, rows integer,
        calls integer, reused_calls integer, prompt_tokens bigint, completion_tokens bigint,
        -- Workers of an earlier version do not send these.
        reused_prompt_tokens bigint, reused_completion_tokens bigint, model_ms double precision, note text
    );
    update pgclarify_private.run
    set
        status = finish_run.status,
        error = finish_run.error,
        error_code = finish_run.error_code,
        stop_reason = finish_run.stop_reason,
        stop_code = pgclarify_private.stop_code(v_run, finish_run.status, finish_run.stop_code),
        budget_id = finish_run.budget_id,
        finished_at = clock_timestamp(),
        interpretations = case
            when v_run.operation in ('clarify', 'consolidate') and finish_run.status in ('succeeded', 'partial')
                then jsonb_array_length(finish_run.interpretations)
        end,
        candidates = (select count(*) from pgclarify_private.candidate where candidate.run_id = v_run.run_id),
        verdicts = (select count(*) from pgclarify_private.verdict where verdict.run_id = v_run.run_id),
        completions = paid.completions,
        prompt_tokens = paid.prompt_tokens,
        cached_tokens = paid.cached_tokens,
        completion_tokens = paid.completion_tokens,
        cost_usd = paid.cost_usd,
        batched_completions = paid.batched_completions,
        batch_saved_usd = paid.batch_saved_usd,
        cache_saved_usd = paid.cache_saved_usd,
        reuse_saved_usd = (
            select
                case
                    when coalesce(sum(stage.reused_calls), 0) = 0 then 0
                    else pgclarify_private.cost_usd(
                        v_run.model, sum(stage.reused_prompt_tokens)::bigint, sum(stage.reused_completion_tokens)::bigint
                    )
                end
            from pgclarify_private.stage
            where stage.run_id = v_run.run_id
        ),
        reused_completions = (
            select coalesce(sum(stage.reused_calls), 0)
            from pgclarify_private.stage
            where stage.run_id = v_run.run_id
        ) + (
            -- A consolidation has copied its verdicts; no stage of it counts them.
            select count(distinct verdict.completion_id)
            from pgclarify_private.verdict
            where verdict.run_id = v_run.run_id and v_run.operation = 'consolidate'
        )
    from pgclarify_private.paid(v_run.run_id) as paid
    where run.run_id = v_run.run_id
    returning run.stop_code into v_stop_code;
    return v_stop_code;
end
$$;

comment on function pgclarify_private.finish_run(bigint, integer, text, text, text, jsonb, jsonb, text, text, bigint) is
'End a run, and return the stop code that is stored. interpretations: array of objects with interpretation, answer, support, '
'cohesion, is_contested and citations (candidate_rank, is_medoid, quote, start_char, end_char), in order. stages: array of '
'objects with the columns of table stage, in order. stop_code: the code that only the worker can know; other codes follow '
'from the tables. budget_id: the first budget that refused a call.';
grant execute on function
    pgclarify_private.finish_run(bigint, integer, text, text, text, jsonb, jsonb, text, text, bigint) to pgclarify_worker;
