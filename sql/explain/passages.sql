-- The passages of a run with their verdicts: of the tree of explain, and of its page.

create or replace function pgclarify_private.run_passages(run_id bigint, roles name[], withheld integer[])
returns table (
    rank integer,
    step_ordinal integer,
    batch integer,
    origin text,
    via_rank integer,
    reached_by text,
    score double precision,
    passage_id bigint,
    document_id text,
    title text,
    uri text,
    outcome text,
    reason text,
    interpretation text,
    answer text,
    quote text,
    quote_start_char integer,
    other_readings text[],
    is_reused boolean,
    paid_ms double precision,
    prompt_tokens bigint,
    completion_tokens bigint,
    read_with integer[]
)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    with candidate as materialized (
        select candidate.*
        from pgclarify_private.candidate
        where candidate.run_id = run_passages.run_id and candidate.rank <> all(run_passages.withheld)
    ),
    fence as materialized (
        select pgclarify_private.fence_of(run.corpus_id, run_passages.roles) as condition
        from pgclarify_private.run
        where run.run_id = run_passages.run_id
    )
    select
        candidate.rank, candidate.step_ordinal, candidate.batch, candidate.origin, via.rank,
        candidate.origin || coalesce(' of #' || via.rank, ' of passage ' || candidate.via_passage_id, ''),
        candidate.score, candidate.passage_id, candidate.document_id,
        pgclarify_private.title_of_passage(document.title, candidate.heading), document.uri,
        case when refused.by_budget then 'not judged' when candidate.copy_of > 0 then 'copy' else verdict.outcome end,
        case
            when candidate.copy_of > 0 then format('it has the text of #%s, which was judged', candidate.copy_of)
            -- The run's stop_reason says it once.
            when refused.by_budget then null
            when verdict.outcome = 'erased' then 'what was decided is gone with its document'
            when verdict.doubt_code is not null then 'doubted: ' || verdict.reason
            else coalesce(verdict.reason, verdict.error)
        end,
        verdict.interpretation, verdict.answer, verdict.quote, verdict.start_char,
        array(
            select other.interpretation || ' Answer: ' || other.answer
            from pgclarify_private.verdict as other
            where
                other.run_id = run_passages.run_id
                and other.rank = candidate.rank
                and other.reading_ordinal > verdict.reading_ordinal
            order by other.reading_ordinal
        ),
        verdict.is_reused,
        -- A reply about several passages counts at the first of them.
        case when not verdict.is_reused and billed.is_first then completion.latency_ms end,
        case when billed.is_first then completion.prompt_tokens end,
        case when billed.is_first then completion.completion_tokens end,
        case when shared.ranks[1] = candidate.rank then shared.ranks[2:] else shared.ranks[:1] end
    from candidate
    left join lateral (
        select judged.*
        from pgclarify_private.verdict as judged
        where judged.run_id = run_passages.run_id and judged.rank = candidate.rank
        order by judged.reading_ordinal
        limit 1
    ) as verdict on true
    cross join lateral (
        select not exists (
            select
            from pgclarify_private.verdict as earlier
            where
                earlier.run_id = run_passages.run_id
                and earlier.rank < candidate.rank
                and earlier.completion_id = verdict.completion_id
        ) as is_first
    ) as billed
    cross join lateral (
        select array_agg(distinct other.rank order by other.rank) as ranks
        from pgclarify_private.verdict as other
        where
            other.run_id = run_passages.run_id
            and other.completion_id = verdict.completion_id
            and other.rank <> all(run_passages.withheld)
    ) as shared
    cross join lateral (select coalesce(verdict.error_code in ('PC007', 'PC008'), false) as by_budget) as refused
    left join pgclarify_private.completion on completion.completion_id = verdict.completion_id
    cross join fence
    left join pgclarify_private.document
        on document.corpus_id = candidate.corpus_id
        and document.id = candidate.document_id
        and pgclarify_private.may_read(document, run_passages.roles, fence.condition)
        and document.corpus_id in (
            select visible.corpus_id from pgclarify_private.visible_corpora(run_passages.roles) as visible
        )
    left join (
        select candidate.step_ordinal, candidate.passage_id, min(candidate.rank) as rank
        from candidate
        group by candidate.step_ordinal, candidate.passage_id
    ) as via
        -- Two steps of an investigation may find the same passage.
        on candidate.via_passage_id = via.passage_id
        and candidate.step_ordinal is not distinct from via.step_ordinal
    order by candidate.rank;
end;

comment on function pgclarify_private.run_passages(bigint, name[], integer[]) is
'The passages of a run by rank, except those of withheld ranks. roles: decide which titles and addresses are shown. title: of '
'its document, and its headings. reached_by: its origin, and the passage that led to it. outcome: of its verdict, or "not '
'judged" if a budget refused the call, or "copy" if another passage with the same text was judged; null '
'without a verdict. other_readings: further ones of the passage, each with its answer. paid_ms and tokens: of a reply about '
'several passages, only at the first of them. paid_ms: null if the reply came from the ledger. read_with: ranks that '
'share its reply: all others at the first of them, and the first one at the others. It does not check who may see the run.';
