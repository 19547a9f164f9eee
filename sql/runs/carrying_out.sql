-- Executing runs: functions that workers call. Every write names the attempt, so a worker that lost a run cannot write to it.

create or replace function pgclarify_private.record_verdicts(run_id bigint, attempt integer, verdicts jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- It plans for longer than it executes.
set plan_cache_mode = 'force_generic_plan'
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_verdicts.run_id, record_verdicts.attempt);
begin
    -- Do not wait for the disk: after a crash the run is executed again, so what it wrote before its end may be lost.
    perform set_config('synchronous_commit', 'off', true);
    -- A passage may be judged again.
    delete from pgclarify_private.verdict as earlier
    -- Without the vectors, whose text is slow to read.
    using jsonb_to_recordset(record_verdicts.verdicts) as given (rank integer)
    where earlier.run_id = v_run.run_id and earlier.rank = given.rank;
    insert into pgclarify_private.verdict
    select given.*
    from jsonb_array_elements(record_verdicts.verdicts) as sent (verdict)
    cross join lateral jsonb_populate_record(
        null::pgclarify_private.verdict,
        jsonb_build_object('reading_ordinal', 1) || sent.verdict
        || jsonb_build_object('run_id', v_run.run_id, 'created_at', clock_timestamp())
    ) as given;
end
$$;

comment on function pgclarify_private.record_verdicts(bigint, integer, jsonb) is
'Store verdicts of a run; they replace earlier ones on the same candidates. verdicts: array of objects with the columns of '
'table verdict.';
grant execute on function pgclarify_private.record_verdicts(bigint, integer, jsonb) to pgclarify_worker;

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
    completion_id bigint,
    score real,
    dated timestamptz,
    doubt_code text,
    reading_ordinal integer
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
    select filled.*
    from pgclarify_private.candidate
    cross join lateral jsonb_populate_record(candidate, jsonb_build_object('run_id', v_run.run_id)) as filled
    where candidate.run_id = v_run.parent_run_id;
    insert into pgclarify_private.verdict
    select filled.*
    from pgclarify_private.verdict
    cross join lateral jsonb_populate_record(
        verdict, jsonb_build_object('run_id', v_run.run_id, 'is_reused', true, 'created_at', clock_timestamp())
    ) as filled
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
            verdict.end_char, verdict.vector::text, verdict.completion_id, verdict.score,
            (
                select max(cited.dated)
                from pgclarify_private.candidate as proof
                inner join pgclarify_private.document as cited
                    on cited.corpus_id = proof.corpus_id and cited.id = proof.document_id
                where proof.run_id = $1 and candidate.rank in (proof.rank, proof.copy_of)
            ),
            verdict.doubt_code, verdict.reading_ordinal
        from pgclarify_private.verdict
        inner join pgclarify_private.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
        left join passage on passage.document_id = candidate.document_id and passage.id = candidate.passage_id
        left join pgclarify_private.document
            on document.corpus_id = candidate.corpus_id and document.id = candidate.document_id
        where verdict.run_id = $1 and verdict.outcome = 'grounded'
        order by verdict.rank, verdict.reading_ordinal
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
        end_char, reading_ordinal, is_shown
    )
    select
        record_citations.run_id, coalesce((item.value -> 'ordinal')::integer, item.place), cited.rank, citation.candidate_rank,
        candidate.corpus_id, candidate.document_id, candidate.passage_id, candidate.heading, citation.is_medoid,
        citation.quote, citation.start_char, citation.end_char, coalesce(citation.reading_ordinal, 1),
        coalesce((item.value -> 'is_shown')::boolean, true)
    from jsonb_array_elements(record_citations.items) with ordinality as item (value, place)
    cross join lateral jsonb_array_elements(item.value -> 'citations') with ordinality as cited (value, rank)
    cross join lateral jsonb_to_record(cited.value) as citation (
        candidate_rank integer, is_medoid boolean, quote text, start_char integer, end_char integer, reading_ordinal integer
    )
    -- A missing candidate violates a constraint.
    left join pgclarify_private.candidate
        on candidate.run_id = record_citations.run_id and candidate.rank = citation.candidate_rank
    -- A worker sends results again if it does not know whether they were stored.
    on conflict on constraint citation_pk do nothing;

    -- What one passage proves, its copies prove, too.
    insert into pgclarify_private.citation (
        run_id, ordinal, rank, candidate_rank, corpus_id, document_id, passage_id, heading, is_medoid, quote, start_char,
        end_char, reading_ordinal, is_shown
    )
    select
        cited.run_id, cited.ordinal, last.rank + row_number() over (partition by cited.ordinal order by copy.rank), copy.rank,
        copy.corpus_id, copy.document_id, copy.passage_id, copy.heading, case when cited.is_medoid is not null then false end,
        cited.quote,
        cited.start_char + copy.copy_shift, cited.end_char + copy.copy_shift, cited.reading_ordinal,
        cited.is_shown
    from pgclarify_private.citation as cited
    inner join pgclarify_private.candidate as copy
        on copy.run_id = cited.run_id and copy.copy_of = cited.candidate_rank
    -- A copy has other headings, and may be gone by now.
    inner join pgclarify_private.document
        on document.corpus_id = copy.corpus_id
        and document.id = copy.document_id
        and substr(document.content, cited.start_char + copy.copy_shift + 1, length(cited.quote)) = cited.quote
    cross join lateral (
        select max(listed.rank) as rank
        from pgclarify_private.citation as listed
        where listed.run_id = cited.run_id and listed.ordinal = cited.ordinal
    ) as last
    where cited.run_id = record_citations.run_id
        and not exists (
            select from pgclarify_private.citation as known
            where known.run_id = cited.run_id and known.ordinal = cited.ordinal and known.candidate_rank = copy.rank
        );
end;

comment on function pgclarify_private.record_citations(bigint, jsonb) is
'Store the citations of results of a run. items: array of objects with ordinal (the place in the array if missing) and '
'citations: array of objects with candidate_rank, quote, start_char, end_char and, for an interpretation, is_medoid, in order; '
'is_shown of an interpretation. '
'Copies of a cited passage, which record_copies has stored, are cited after all others.';

create or replace function pgclarify_private.record_results(run_id bigint, attempt integer, relation text, results jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (
        select from pgclarify_private.result_tables() as result
        where result.relation = record_results.relation and result.is_recorded
    ) then
        raise exception 'table % has no results', record_results.relation
            using errcode = 'invalid_parameter_value',
                hint = 'Pass a table of results that is in pgclarify_private.result_tables().';
    end if;
    perform pgclarify_private.lock_run(record_results.run_id, record_results.attempt);
    execute format(
        $sql$
        insert into pgclarify_private.%1$I
        select result.*
        from jsonb_array_elements($2) with ordinality as given (value, place)
        cross join lateral jsonb_populate_record(
            null::pgclarify_private.%1$I,
            jsonb_build_object('ordinal', given.place) || given.value
            || jsonb_build_object('run_id', $1, 'created_at', clock_timestamp())
        ) as result
        -- As in record_citations.
        on conflict do nothing
        $sql$,
        record_results.relation
    ) using record_results.run_id, record_results.results;
    perform pgclarify_private.record_citations(record_results.run_id, record_results.results);
end
$$;

comment on function pgclarify_private.record_results(bigint, integer, text, jsonb) is
'Store results of a run with their citations; those that are there already stay. relation: the table. results: array of '
'objects with the columns of the table but run_id and created_at, and citations. ordinal, citations: as in record_citations.';
grant execute on function pgclarify_private.record_results(bigint, integer, text, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_route(run_id bigint, attempt integer, route text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.lock_run(record_route.run_id, record_route.attempt);
    update pgclarify_private.run
    set route = record_route.route
    where run.run_id = record_route.run_id;
end
$$;

comment on function pgclarify_private.record_route(bigint, integer, text) is 'Store the route that a run took.';
grant execute on function pgclarify_private.record_route(bigint, integer, text) to pgclarify_worker;
