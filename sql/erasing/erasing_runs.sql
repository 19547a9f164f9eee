-- Erasing what runs, the ledger and evaluations store of a document. Ids, times, tokens and costs stay. Everything is
-- found by indexes, independent of statistics: the settings ensure that.

create or replace function pgclarify_private.replies_to_readings(run_ids bigint[])
returns bigint[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with recursive said as (
        select replied.run_id
        from pgclarify_private.run as asking
        inner join pgclarify_private.run as replied on replied.parent_run_id = asking.run_id
        where asking.run_id = any(replies_to_readings.run_ids)
            and asking.settings ->> 'form' = 'split'
            and pgclarify_private.is_conversation(replied.operation)
        union all
        select later.run_id
        from said
        inner join pgclarify_private.run as later on later.parent_run_id = said.run_id
        where pgclarify_private.is_conversation(later.operation)
    )
    select array(select said.run_id from said order by said.run_id);
end;

comment on function pgclarify_private.replies_to_readings(bigint[]) is
'Of the runs that split readings: the replies to them, and what was asked and replied later in their conversations.';

create or replace function pgclarify_private.erase_conversations(run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_erased constant text := 'erased with a document';
    v_run_ids constant bigint[] := pgclarify_private.replies_to_readings(erase_conversations.run_ids);
    v_ended bigint[];
begin
    delete from pgclarify_private.rewriting where rewriting.run_id = any(v_run_ids);
    perform pgclarify_private.erase_results(v_run_ids);
    update pgclarify_private.run
    set
        -- The question of the first reply is that of the person.
        question = case when run.parent_run_id = any(v_run_ids) then v_erased else run.question end,
        settings = (run.settings - 'history') || case
            when run.settings ? 'text' then jsonb_build_object('text', v_erased) else '{}'
        end
    where run.run_id = any(v_run_ids);
    perform pgclarify_private.erase_remarks(v_run_ids);
    -- Nothing can be made of it. A worker that has begun finds that it has lost the run.
    with ended as (
        update pgclarify_private.run
        set
            status = 'failed', error = 'what it replies to was erased with a document', error_code = '42704',
            finished_at = clock_timestamp(), attempt = run.attempt + 1
        where run.run_id = any(v_run_ids) and run.status in ('queued', 'running')
        returning run.run_id
    )
    select array_agg(ended.run_id) into v_ended from ended;
    perform pgclarify_private.settle_runs(v_ended);
end
$$;

comment on function pgclarify_private.erase_conversations(bigint[]) is
'Erase what conversations repeat of readings that these runs split. Their runs that are not over fail.';

create or replace function pgclarify_private.erase_replies(corpus_id bigint, document_id text, run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    with locked as (
        select completion.completion_id
        from (
            select noted.completion_id
            from pgclarify_private.completion_document as noted
            where noted.corpus_id = erase_replies.corpus_id and noted.document_id = erase_replies.document_id
            union
            select asked.completion_id
            from pgclarify_private.completion as asked
            where asked.run_id = any(erase_replies.run_ids)
        ) as tainted
        inner join pgclarify_private.completion on tainted.completion_id = completion.completion_id
        where completion.erased_at is null
        -- In the order of claims, because the two would deadlock otherwise.
        order by
            completion.purpose, completion.model, completion.parameters, completion.prompt_version, completion.input_hash,
            completion.sample
        for update of completion
    ),
    erased as (
        update pgclarify_private.completion
        set
            reply = null,
            erased_at = now(),
            -- The hash would confirm a guess of the input. An equal input of another document is asked again.
            input_hash = sha256(uuid_send(gen_random_uuid()))
        from locked
        where completion.completion_id = locked.completion_id
        returning completion.completion_id
    ),
    forgotten as (
        delete from pgclarify_private.joint_verdict
        using erased
        where joint_verdict.completion_id = erased.completion_id
    )
    update pgclarify_private.batch_request as request
    set request = null
    from erased
    where request.completion_id = erased.completion_id;
end
$$;

comment on function pgclarify_private.erase_replies(bigint, text, bigint[]) is
'Erase the replies to inputs that contained a document, or a reply that came from it, and those of some runs. A reply that '
'has not arrived yet will not be stored.';

create or replace function pgclarify_private.leaning_verdicts(corpus_id bigint, document_id text)
returns table (run_id bigint, rank integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select distinct verdict.run_id, verdict.rank
    from pgclarify_private.verdict
    inner join pgclarify_private.candidate on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
    where
        verdict.leans_on is not null
        and verdict.leans_on @> array[leaning_verdicts.document_id]
        and candidate.corpus_id = leaning_verdicts.corpus_id;
end;

comment on function pgclarify_private.leaning_verdicts(bigint, text) is
'Candidates whose readings have words of a document, although another one proves them.';

create or replace function pgclarify_private.erase_verdicts(corpus_id bigint, document_id text, run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Also those without one, so that a transaction that still sees the text can store no rating with it.
    update pgclarify_private.candidate
    set heading = null
    where candidate.corpus_id = erase_verdicts.corpus_id and candidate.document_id = erase_verdicts.document_id;
    update pgclarify_private.verdict
    set
        outcome = 'erased', interpretation = null, answer = null, quote = null, start_char = null, end_char = null,
        vector = null, reason = null, error = null, abstention_code = null, error_code = null, score = null,
        doubt_code = null
    from (
        select candidate.run_id, candidate.rank
        from pgclarify_private.candidate
        where candidate.corpus_id = erase_verdicts.corpus_id and candidate.document_id = erase_verdicts.document_id
        union
        select leaning.run_id, leaning.rank
        from pgclarify_private.leaning_verdicts(erase_verdicts.corpus_id, erase_verdicts.document_id) as leaning
        union
        -- One reply was read from all passages together.
        select answered.run_id, judged.rank
        from pgclarify_private.run as answered
        inner join pgclarify_private.verdict as judged on judged.run_id = answered.run_id
        where answered.run_id = any(erase_verdicts.run_ids) and answered.route = 'answered'
    ) as tainted
    where verdict.run_id = tainted.run_id and verdict.rank = tainted.rank and verdict.outcome <> 'erased';
end
$$;

comment on function pgclarify_private.erase_verdicts(bigint, text, bigint[]) is
'Erase the verdicts on passages of a document, in all runs that had it.';

create or replace function pgclarify_private.erase_interpretations(corpus_id bigint, document_id text, run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run_ids bigint[];
    v_ordinals integer[];
begin
    with gone as (
        delete from pgclarify_private.citation
        using (
            select cited.run_id, cited.ordinal, cited.rank
            from pgclarify_private.citation as cited
            where cited.corpus_id = erase_interpretations.corpus_id
                and cited.document_id = erase_interpretations.document_id
            union
            -- Copies were not judged themselves.
            select copy.run_id, cited.ordinal, cited.rank
            from pgclarify_private.candidate as judged
            inner join pgclarify_private.candidate as copy on copy.run_id = judged.run_id and copy.copy_of = judged.rank
            inner join pgclarify_private.citation as cited
                on cited.run_id = copy.run_id and cited.candidate_rank = copy.rank
            where judged.corpus_id = erase_interpretations.corpus_id
                and judged.document_id = erase_interpretations.document_id
            union
            select leaning.run_id, cited.ordinal, cited.rank
            from pgclarify_private.leaning_verdicts(
                erase_interpretations.corpus_id, erase_interpretations.document_id
            ) as leaning
            inner join pgclarify_private.candidate as proof
                on proof.run_id = leaning.run_id and leaning.rank in (proof.rank, proof.copy_of)
            inner join pgclarify_private.citation as cited
                on cited.run_id = proof.run_id and cited.candidate_rank = proof.rank
            union
            select answered.run_id, cited.ordinal, cited.rank
            from pgclarify_private.run as answered
            inner join pgclarify_private.citation as cited on cited.run_id = answered.run_id
            where answered.run_id = any(erase_interpretations.run_ids) and answered.route = 'answered'
        ) as tainted
        where citation.run_id = tainted.run_id
            and citation.ordinal = tainted.ordinal
            and citation.rank = tainted.rank
        returning citation.run_id, citation.ordinal
    ),
    touched as (
        select distinct gone.run_id, gone.ordinal from gone
    )
    select coalesce(array_agg(touched.run_id), '{}'), coalesce(array_agg(touched.ordinal), '{}')
    into v_run_ids, v_ordinals
    from touched;
    delete from pgclarify_private.interpretation
    using unnest(v_run_ids, v_ordinals) as touched (run_id, ordinal)
    where interpretation.run_id = touched.run_id
        and interpretation.ordinal = touched.ordinal
        and not exists (
            select from pgclarify_private.citation
            where citation.run_id = touched.run_id and citation.ordinal = touched.ordinal
        );
    update pgclarify_private.run
    set interpretations = pgclarify_private.result_count(run)
    where run.run_id = any(v_run_ids) and run.interpretations is not null;
    -- The best remaining citation represents the reading, in its own words; usually it was the medoid already.
    update pgclarify_private.interpretation
    set
        interpretation = speaking.interpretation, answer = speaking.answer, support = counted.support,
        doubt = case when counted.are_doubted then speaking.doubt_code end
    from unnest(v_run_ids, v_ordinals) as touched (run_id, ordinal)
    cross join lateral (
        select
            count(distinct citation.document_id) filter (where proof.copy_of is null) as support,
            min(citation.rank) as rank,
            bool_and(judged.doubt_code is not null) as are_doubted
        from pgclarify_private.citation
        inner join pgclarify_private.candidate as proof
            on proof.run_id = citation.run_id and proof.rank = citation.candidate_rank
        left join pgclarify_private.verdict as judged
            on judged.run_id = proof.run_id
            and judged.rank = coalesce(proof.copy_of, proof.rank)
            and judged.reading_ordinal = citation.reading_ordinal
        where citation.run_id = touched.run_id and citation.ordinal = touched.ordinal
    ) as counted
    inner join pgclarify_private.citation as first
        on first.run_id = touched.run_id and first.ordinal = touched.ordinal and first.rank = counted.rank
    inner join pgclarify_private.verdict as speaking
        on speaking.run_id = first.run_id
        and speaking.rank = first.candidate_rank
        and speaking.reading_ordinal = first.reading_ordinal
    where interpretation.run_id = touched.run_id and interpretation.ordinal = touched.ordinal;
    update pgclarify_private.citation
    set is_medoid = true
    from unnest(v_run_ids, v_ordinals) as touched (run_id, ordinal)
    where citation.run_id = touched.run_id
        and citation.ordinal = touched.ordinal
        and not citation.is_medoid
        and not exists (
            select from pgclarify_private.citation as better
            where better.run_id = touched.run_id and better.ordinal = touched.ordinal and better.rank < citation.rank
        );
end
$$;

comment on function pgclarify_private.erase_interpretations(bigint, text, bigint[]) is
'Erase citations of a document, whose verdicts are erased. A reading that also depends on other documents keeps what those '
'give, in the words of the best one. A reading without any other document is deleted.';

create or replace function pgclarify_private.erase_steps(corpus_id bigint, document_id text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- A step reads all its passages together, and each later step reads the earlier answers.
    with first as (
        select candidate.run_id, min(coalesce(candidate.step_ordinal, 1)) as ordinal
        from pgclarify_private.candidate
        where candidate.corpus_id = erase_steps.corpus_id and candidate.document_id = erase_steps.document_id
        group by candidate.run_id
    ),
    gone as (
        delete from pgclarify_private.step using first
        where step.run_id = first.run_id and step.ordinal >= first.ordinal
        returning step.run_id, step.ordinal
    )
    delete from pgclarify_private.citation using gone
    where citation.run_id = gone.run_id and citation.ordinal = gone.ordinal;
end
$$;

comment on function pgclarify_private.erase_steps(bigint, text) is
'Erase steps of investigations from the first one that read a document.';

create or replace function pgclarify_private.erase_results(run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_relation text;
begin
    for v_relation in
        select result.relation from pgclarify_private.result_tables() as result where result.is_erased
    loop
        execute format(
            $sql$
            with gone as (
                delete from pgclarify_private.%I as result where result.run_id = any($1) returning result.run_id, result.ordinal
            )
            delete from pgclarify_private.citation using gone
            where citation.run_id = gone.run_id and citation.ordinal = gone.ordinal
            $sql$,
            v_relation
        ) using erase_results.run_ids;
    end loop;
end
$$;

comment on function pgclarify_private.erase_results(bigint[]) is
'Erase results of runs that read a document, and their citations, if one result may come from several documents.';

create or replace function pgclarify_private.erase_remarks(run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.stage set note = null where stage.run_id = any(erase_remarks.run_ids) and stage.note is not null;
    update pgclarify_private.run
    set
        -- Both may quote a reply.
        error = case when run.error is not null then 'what it said was erased with a document' end,
        stop_reason = case when run.budget_id is not null then run.stop_reason end
    where run.run_id = any(erase_remarks.run_ids) and (run.error is not null or run.stop_reason is not null);
end
$$;

comment on function pgclarify_private.erase_remarks(bigint[]) is
'Erase error texts and notes of runs and stages, if they may repeat a reply.';

create or replace function pgclarify_private.erase_cases(corpus_id bigint, document_id text, run_ids bigint[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.eval_case
    set
        -- Retrieved passages are only ids.
        output = eval_case.output || '{"interpretations": [], "questions": [], "notes": {}}',
        error = case when eval_case.error is not null then 'what it said was erased with a document' end
    from (
        select of_run.eval_run_id, of_run.ordinal
        from pgclarify_private.eval_case as of_run
        where of_run.run_id = any(erase_cases.run_ids)
        union
        select naming.eval_run_id, naming.ordinal
        from pgclarify_private.eval_case as naming
        inner join pgclarify_private.eval_run on eval_run.eval_run_id = naming.eval_run_id
        where jsonb_path_query_array(naming.output, '$.**.document_id')
            @> jsonb_build_array(erase_cases.document_id)
            and eval_run.corpus_id = erase_cases.corpus_id
    ) as tainted
    where eval_case.eval_run_id = tainted.eval_run_id
        and eval_case.ordinal = tainted.ordinal
        and (
            eval_case.error is not null
            or eval_case.output -> 'interpretations' <> '[]'
            or eval_case.output -> 'questions' <> '[]'
            or eval_case.output -> 'notes' <> '{}'
        );
end
$$;

comment on function pgclarify_private.erase_cases(bigint, text, bigint[]) is
'Erase outputs in evaluations of runs that had a document, or of baselines that retrieved or cited it. Metrics stay.';

create or replace function pgclarify_private.erase_from_runs(corpus_id bigint, document_id text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- For all functions that it calls.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_corpus_id constant bigint := erase_from_runs.corpus_id;
    v_document_id constant text := erase_from_runs.document_id;
    v_run_ids constant bigint[] := array(
        select candidate.run_id
        from pgclarify_private.candidate
        where candidate.corpus_id = v_corpus_id and candidate.document_id = v_document_id
        union
        -- They know a reading from an earlier call about several passages, and may not have found the document.
        select leaning.run_id from pgclarify_private.leaning_verdicts(v_corpus_id, v_document_id) as leaning
    );
begin
    -- A transaction that rates a reading has locked these. Its rating is visible to later statements.
    perform
    from (
        select found.run_id, found.rank
        from pgclarify_private.candidate as found
        where found.corpus_id = v_corpus_id and found.document_id = v_document_id
        union
        select leaning.run_id, leaning.rank
        from pgclarify_private.leaning_verdicts(v_corpus_id, v_document_id) as leaning
    ) as told
    inner join pgclarify_private.candidate on told.run_id = candidate.run_id and told.rank = candidate.rank
    order by candidate.run_id, candidate.rank
    for update of candidate;
    perform pgclarify_private.erase_replies(
        v_corpus_id, v_document_id, pgclarify_private.replies_to_readings(v_run_ids)
    );
    perform pgclarify_private.erase_verdicts(v_corpus_id, v_document_id, v_run_ids);
    perform pgclarify_private.erase_interpretations(v_corpus_id, v_document_id, v_run_ids);
    perform pgclarify_private.erase_steps(v_corpus_id, v_document_id);
    perform pgclarify_private.erase_results(v_run_ids);
    perform pgclarify_private.erase_conversations(v_run_ids);
    perform pgclarify_private.erase_cases(v_corpus_id, v_document_id, v_run_ids);
    perform pgclarify_private.erase_remarks(v_run_ids);
    delete from pgclarify_private.feedback
    where feedback.corpus_id = v_corpus_id and feedback.read_ids @> array[v_document_id];
end
$$;

comment on function pgclarify_private.erase_from_runs(bigint, text) is
'Erase what runs, the ledger, evaluations and feedback store of a document.';
