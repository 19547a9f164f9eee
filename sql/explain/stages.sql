-- explain: the stages of a run, and the place of each in the tree.

create or replace function pgclarify_private.stages_of(run_id bigint)
returns table (
    ordinal integer,
    name text,
    batch integer,
    step_ordinal integer,
    start_ms double precision,
    end_ms double precision,
    rows bigint,
    calls bigint,
    reused_calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    note text
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select
        timed.ordinal, timed.name, timed.batch, timed.step_ordinal, timed.start_ms, timed.start_ms + timed.duration_ms,
        timed.rows::bigint, timed.calls::bigint, timed.reused_calls::bigint, timed.prompt_tokens, timed.completion_tokens,
        timed.note
    from (
        select
            stage.*,
            -- Only by the worker's clock, because the server's may differ.
            (1000 * extract(epoch from stage.started_at - min(stage.started_at) over ()))::double precision as start_ms
        from pgclarify_private.stage
        where stage.run_id = stages_of.run_id
    ) as timed
    order by timed.ordinal;
    if found then
        return;
    end if;
    -- Stages are written at the end of a run. Other rows of the run show some.
    return query
    with asked as (
        select
            case completion.purpose
                when 'verdict' then 'checking'
                when 'questions' then 'questioning'
                when 'reformulation' then 'rewriting'
                when 'follow_up' then 'decomposition'
                when 'relevance' then 'reranking'
                when 'sample' then 'sampling'
                when 'entailment' then 'sampling'
                when 'inference' then 'sampling'
                when 'answer' then 'answering'
                when 'one_pass' then 'answering'
                when 'conclusion' then 'reasoning'
                else completion.purpose
            end as name,
            count(*) as calls,
            sum(completion.prompt_tokens) as prompt_tokens,
            sum(completion.completion_tokens) as completion_tokens
        from pgclarify_private.completion
        inner join pgclarify_private.run on run.run_id = completion.run_id
        where completion.run_id = stages_of.run_id and completion.finished_at is not null
            -- Other operations store their verdicts.
            and (completion.purpose <> 'verdict' or run.operation = 'clarifying_questions')
        group by 1
    ),
    judged as (
        select
            candidate.step_ordinal, candidate.batch, count(*) as rows,
            count(distinct verdict.completion_id) filter (where not verdict.is_reused) as calls,
            -- Equal passages share one reply, which the run may have paid for itself.
            count(distinct verdict.completion_id) filter (
                where verdict.is_reused and completion.run_id is distinct from verdict.run_id
            ) as reused_calls,
            sum(completion.prompt_tokens) filter (where not verdict.is_reused) as prompt_tokens,
            sum(completion.completion_tokens) filter (where not verdict.is_reused) as completion_tokens
        from pgclarify_private.verdict
        inner join pgclarify_private.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
        inner join pgclarify_private.run on run.run_id = verdict.run_id
        left join pgclarify_private.completion on completion.completion_id = verdict.completion_id
        where verdict.run_id = stages_of.run_id and run.operation <> 'consolidate'
        group by candidate.step_ordinal, candidate.batch
    ),
    kept as (
        select 'detection' as name, count(*) as rows
        from pgclarify_private.detection
        where detection.run_id = stages_of.run_id
        union all
        select 'rewriting', count(*) from pgclarify_private.rewriting where rewriting.run_id = stages_of.run_id
        union all
        select 'questioning', count(*)
        from pgclarify_private.clarifying_question
        where clarifying_question.run_id = stages_of.run_id
        union all
        select 'listing', count(*) from pgclarify_private.listed_answer where listed_answer.run_id = stages_of.run_id
    ),
    there as (
        select
            coalesce(asked.name, kept.name) as name, null::integer as batch, null::integer as step_ordinal, kept.rows,
            coalesce(asked.calls, 0) as calls, 0::bigint as reused_calls, asked.prompt_tokens, asked.completion_tokens
        from asked
        full join (select kept.* from kept where kept.rows > 0) as kept on kept.name = asked.name
        union all
        select 'retrieval', null, candidate.step_ordinal, count(*), 0, 0, 0, 0
        from pgclarify_private.candidate
        inner join pgclarify_private.run on run.run_id = candidate.run_id
        where candidate.run_id = stages_of.run_id and run.operation <> 'consolidate'
        group by candidate.step_ordinal
        union all
        select
            'judgement', case when max(judged.batch) over () > 1 then judged.batch end, judged.step_ordinal, judged.rows,
            judged.calls, judged.reused_calls, judged.prompt_tokens, judged.completion_tokens
        from judged
        union all
        select 'consolidation', null, null, count(*), 0, 0, 0, 0
        from pgclarify_private.interpretation
        where interpretation.run_id = stages_of.run_id
        having count(*) > 0
    )
    select
        (row_number() over (
            order by
                array_position(
                    '{detection,relaxation,decomposition,questioning,retrieval,reranking,judgement,confirmation,checking,'
                    'sampling,answering,reasoning,rewriting,listing,consolidation}',
                    there.name
                ),
                there.step_ordinal, there.batch
        ))::integer,
        there.name, there.batch, there.step_ordinal, null::double precision, null::double precision, there.rows,
        there.calls, there.reused_calls, there.prompt_tokens::bigint, there.completion_tokens::bigint,
        case when there.name = 'relaxation' then run.relaxed_question end
    from there
    inner join pgclarify_private.run on run.run_id = stages_of.run_id
    order by 1;
end
$$;

comment on function pgclarify_private.stages_of(bigint) is
'Stages of a run in order, in milliseconds since its first. If a run has none, because no worker has ended it, what '
'the ledger and its other rows show of them, without times.';

create or replace function pgclarify_private.placed_stages(run_id bigint, detail text)
returns table (
    ordinal integer,
    name text,
    step_ordinal integer,
    batch integer,
    times bigint,
    batches bigint,
    start_ms double precision,
    end_ms double precision,
    busy_ms double precision,
    rows bigint,
    calls bigint,
    reused_calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    note text,
    place integer[],
    is_in_batch boolean,
    depth integer
)
language sql stable
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    with listed as (
        select
            min(known.ordinal) as ordinal, known.name, known.step_ordinal, level.batch, count(*) as times,
            count(known.batch) as batches,
            min(known.start_ms) as start_ms, max(known.end_ms) as end_ms,
            -- Batches may overlap.
            least(sum(known.end_ms - known.start_ms), max(known.end_ms) - min(known.start_ms)) as busy_ms,
            sum(known.rows)::bigint as rows, sum(known.calls)::bigint as calls,
            sum(known.reused_calls)::bigint as reused_calls, sum(known.prompt_tokens)::bigint as prompt_tokens,
            sum(known.completion_tokens)::bigint as completion_tokens,
            case when count(*) = 1 then min(known.note) end as note
        from pgclarify_private.stages_of(placed_stages.run_id) as known
        cross join lateral (
            select
                case when placed_stages.detail <> 'stages' then known.ordinal end as ordinal,
                case when placed_stages.detail <> 'stages' then known.batch end as batch
        ) as level
        group by known.name, known.step_ordinal, level.batch, level.ordinal
    )
    select
        listed.ordinal, listed.name, listed.step_ordinal, listed.batch, listed.times, listed.batches, listed.start_ms,
        listed.end_ms, listed.busy_ms, listed.rows, listed.calls, listed.reused_calls, listed.prompt_tokens,
        listed.completion_tokens, listed.note,
        array[
            case
                when listed.step_ordinal is null then min(listed.ordinal) over batch
                else min(listed.ordinal) over (partition by listed.step_ordinal)
            end,
            coalesce(listed.step_ordinal, 0),
            min(listed.ordinal) over batch,
            listed.ordinal
        ],
        count(*) over batch > 1,
        1 + 3 * (listed.step_ordinal is not null)::integer + 3 * (count(*) over batch > 1)::integer
    from listed
    -- A stage without a batch is a batch of its own.
    window batch as (partition by listed.step_ordinal, coalesce(-listed.batch, listed.ordinal));
end;

comment on function pgclarify_private.placed_stages(bigint, text) is
'The stages of a run in the tree; with detail = stages, the batches of a stage are added up. place: of its line: step, batch, '
'stage; a step and a batch have the place of their first stage. depth: its level; lines below a node are three deeper.';
