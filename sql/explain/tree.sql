-- explain: the tree of steps, batches, stages and passages.

create or replace function pgclarify_private.explain_tree(
    run pgclarify.run, total_ms double precision, roles name[], detail text
)
returns table (kind text, line text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_withheld constant integer[] := pgclarify_private.withheld_ranks((explain_tree.run).run_id, explain_tree.roles);
begin
    return query
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
        from pgclarify_private.stages_of((explain_tree.run).run_id) as known
        cross join lateral (
            select
                case when explain_tree.detail <> 'stages' then known.ordinal end as ordinal,
                case when explain_tree.detail <> 'stages' then known.batch end as batch
        ) as level
        group by known.name, known.step_ordinal, level.batch, level.ordinal
    ),
    stage as materialized (
        select
            listed.*,
            -- Where its line stands: step, batch, stage. A step and a batch stand where their first stage does.
            array[
                case
                    when listed.step_ordinal is null then min(listed.ordinal) over batch
                    else min(listed.ordinal) over (partition by listed.step_ordinal)
                end,
                coalesce(listed.step_ordinal, 0),
                min(listed.ordinal) over batch,
                listed.ordinal
            ] as place,
            count(*) over batch > 1 as is_in_batch,
            1 + (listed.step_ordinal is not null)::integer + (count(*) over batch > 1)::integer as depth
        from listed
        -- What has no batch is one of its own.
        window batch as (partition by listed.step_ordinal, coalesce(-listed.batch, listed.ordinal))
    ),
    candidate as materialized (
        select
            candidate.rank, candidate.step_ordinal, candidate.batch, candidate.origin, candidate.score,
            candidate.via_passage_id, candidate.passage_id, candidate.document_id, candidate.heading, document.title,
            -- What a budget kept from being judged says so once, at the end.
            case when not refused.is_over_budget then verdict.outcome else 'not judged' end as outcome,
            case when not refused.is_over_budget then verdict.error end as error,
            verdict.interpretation, verdict.answer, verdict.reason, verdict.is_reused,
            completion.latency_ms, completion.prompt_tokens, completion.completion_tokens
        from pgclarify.candidate
        left join pgclarify.verdict on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
        cross join lateral (select pgclarify_private.is_over_budget(verdict.error_code) as is_over_budget) as refused
        left join pgclarify.completion on completion.completion_id = verdict.completion_id
        left join pgclarify.document
            on document.corpus_id = candidate.corpus_id
            and document.id = candidate.document_id
            and (document.readers is null or document.readers && explain_tree.roles)
            and document.corpus_id in (
                select visible.corpus_id from pgclarify_private.visible_corpora(explain_tree.roles) as visible
            )
        where candidate.run_id = (explain_tree.run).run_id and candidate.rank <> all(v_withheld)
    ),
    -- The stage that passages are listed under: the one that decided about them.
    home as materialized (
        select distinct on (chosen.step_ordinal, chosen.batch)
            chosen.step_ordinal, chosen.batch, coalesce(stage.place, '{0,0,0,0}') as place,
            coalesce(stage.depth, 1) as depth, stage.busy_ms
        from (select distinct candidate.step_ordinal, candidate.batch from candidate) as chosen
        left join stage
            on stage.step_ordinal is not distinct from chosen.step_ordinal
            and (stage.batch = chosen.batch or stage.batch is null)
            and stage.name in ('judgement', 'reranking', 'retrieval', 'neighbors')
        order by
            chosen.step_ordinal, chosen.batch, stage.batch is null,
            array_position('{judgement,reranking,retrieval,neighbors}', stage.name), stage.ordinal
    ),
    passage as materialized (
        select
            candidate.*, home.place, home.depth, home.busy_ms, via.rank as via_rank,
            case when not candidate.is_reused then candidate.latency_ms end as paid_ms
        from candidate
        inner join home
            on home.step_ordinal is not distinct from candidate.step_ordinal and home.batch = candidate.batch
        left join (
            select candidate.step_ordinal, candidate.passage_id, min(candidate.rank) as rank
            from candidate
            group by candidate.step_ordinal, candidate.passage_id
        ) as via
            on via.passage_id = candidate.via_passage_id
            and via.step_ordinal is not distinct from candidate.step_ordinal
    ),
    -- What the passages below one stage come to.
    decided as materialized (
        select
            passage.place, passage.depth, count(*) as passages,
            concat_ws(
                ', ',
                nullif(count(*) filter (where passage.origin = 'dense'), 0) || ' dense',
                nullif(count(*) filter (where passage.origin = 'lexical'), 0) || ' lexical',
                nullif(count(*) filter (where passage.origin = 'neighbor'), 0) || ' neighbor'
            ) as origins,
            concat_ws(
                ', ',
                nullif(count(*) filter (where passage.outcome = 'grounded'), 0) || ' grounded',
                nullif(count(*) filter (where passage.outcome = 'abstained'), 0) || ' abstained',
                nullif(count(*) filter (where passage.outcome = 'failed'), 0) || ' failed',
                nullif(count(*) filter (where passage.outcome = 'not judged'), 0) || ' not judged'
            ) as outcomes,
            count(passage.paid_ms) as calls,
            percentile_cont(0.5) within group (order by passage.paid_ms) as median_ms,
            max(passage.paid_ms) as slowest_ms,
            (array_agg(passage.rank order by passage.paid_ms desc nulls last, passage.rank))[1] as slowest_rank,
            sum(passage.paid_ms) / nullif(min(passage.busy_ms), 0) as at_once
        from passage
        group by passage.place, passage.depth
    ),
    -- Steps and batches: what their stages come to.
    grouped as (
        select
            stage.place[:2] as place, 1 as depth, stage.step_ordinal, null::integer as batch,
            min(stage.start_ms) as start_ms, max(stage.end_ms) as end_ms, sum(stage.calls)::bigint as calls,
            sum(stage.reused_calls)::bigint as reused_calls, sum(stage.prompt_tokens)::bigint as prompt_tokens,
            sum(stage.completion_tokens)::bigint as completion_tokens
        from stage
        where stage.step_ordinal is not null
        group by stage.place[:2], stage.step_ordinal
        union all
        select
            stage.place[:3], stage.depth - 1, null, stage.batch, min(stage.start_ms), max(stage.end_ms), sum(stage.calls)::bigint,
            sum(stage.reused_calls)::bigint, sum(stage.prompt_tokens)::bigint, sum(stage.completion_tokens)::bigint
        from stage
        where stage.is_in_batch
        group by stage.place[:3], stage.depth, stage.batch
    ),
    step as (
        select
            -- One without a stage stands before the next that has one.
            coalesce(
                staged.place[1],
                (select min(later.place[1]) from grouped as later where later.step_ordinal > known.ordinal),
                2147483647
            ) as place_of_step,
            coalesce(known.ordinal, staged.step_ordinal) as ordinal, known.kind, known.question, known.answer, known.outcome,
            known.confidence, known.reason, known.semantic_sets, staged.start_ms, staged.end_ms, staged.calls,
            staged.reused_calls, staged.prompt_tokens, staged.completion_tokens
        from (
            select step.*
            from pgclarify.step
            where step.run_id = (explain_tree.run).run_id
                and not exists (
                    select
                    from pgclarify.step_citation as citation
                    where citation.run_id = step.run_id
                        and citation.step_ordinal = step.ordinal
                        and citation.candidate_rank = any(v_withheld)
                )
        ) as known
        full join (select grouped.* from grouped where grouped.step_ordinal is not null) as staged
            on staged.step_ordinal = known.ordinal
    ),
    told as materialized (
        select home.place as place_of_stage, home.depth, told.place, told.body
        from pgclarify_private.told_of_dialogue(explain_tree.run, explain_tree.roles, explain_tree.detail) as told
        cross join lateral (
            select stage.place, stage.depth
            from stage
            where stage.name = any(told.stages)
            order by
                array_position(told.stages, stage.name), (stage.batch = told.batch) is true desc, stage.ordinal desc
            limit 1
        ) as home
    ),
    line as (
        select
            array[step.place_of_step, step.ordinal] as place, 1 as depth, true as is_node,
            'step ' || step.ordinal || coalesce(', ' || replace(step.kind, '_', '-'), '')
            || coalesce(': "' || pgclarify_private.shown(step.question) || '"', '')
            || pgclarify_private.shown_figures(
                step.start_ms, step.end_ms, (step.end_ms - step.start_ms) / explain_tree.total_ms, null, step.calls,
                step.reused_calls, step.prompt_tokens, step.completion_tokens
            ) as body
        from step
        union all
        select
            array[step.place_of_step, step.ordinal, 0, 1], 1, false,
            case
                when step.answer is not null then 'Answer: ' || pgclarify_private.shown(step.answer)
                else 'No answer: ' || step.outcome
            end
            || coalesce(
                '  (' || nullif(
                    concat_ws(
                        ', ', 'confidence=' || to_char(step.confidence, 'FM0.00'), 'semantic sets=' || step.semantic_sets
                    ),
                    ''
                ) || ')',
                ''
            )
        from step
        where step.outcome is not null
        union all
        select array[step.place_of_step, step.ordinal, 0, 2], 1, false, 'Remark: ' || pgclarify_private.shown(step.reason, 200)
        from step
        where step.reason is not null
        union all
        select
            array[step.place_of_step, step.ordinal, 0, 3, citation.rank], 1, false,
            format(
                'Proof: #%s  %s: "%s"', citation.candidate_rank,
                pgclarify_private.shown_passage(
                    citation.passage_id, citation.document_id, titled.title, citation.heading
                ),
                pgclarify_private.shown(citation.quote)
            )
        from pgclarify.step_citation as citation
        inner join step on step.ordinal = citation.step_ordinal
        left join (select candidate.rank, candidate.title from candidate) as titled
            on titled.rank = citation.candidate_rank
        where citation.run_id = (explain_tree.run).run_id and citation.candidate_rank <> all(v_withheld)
        union all
        select
            grouped.place, grouped.depth, true,
            'batch ' || grouped.batch || pgclarify_private.shown_figures(
                grouped.start_ms, grouped.end_ms, (grouped.end_ms - grouped.start_ms) / explain_tree.total_ms, null,
                grouped.calls, grouped.reused_calls, grouped.prompt_tokens, grouped.completion_tokens
            )
        from grouped
        where grouped.batch is not null
        union all
        select
            stage.place, stage.depth, true,
            stage.name || case
                when stage.times > 1 and stage.name = 'listing' then format(', %s rounds', stage.times)
                when stage.times > 1 then
                    format(', %s %s', stage.times, case when stage.batches = stage.times then 'batches' else 'times' end)
                when stage.batch is not null and stage.name = 'listing' then format(', round %s', stage.batch)
                when stage.batch is not null and not stage.is_in_batch then format(', batch %s', stage.batch)
                else ''
            end
            || pgclarify_private.shown_figures(
                stage.start_ms, stage.end_ms, stage.busy_ms / explain_tree.total_ms, stage.rows, stage.calls,
                stage.reused_calls, stage.prompt_tokens, stage.completion_tokens
            )
        from stage
        union all
        select
            decided.place, 1, true,
            case
                when (explain_tree.run).parent_run_id is null then 'passages'
                else 'verdicts of run ' || (explain_tree.run).parent_run_id
            end
            || pgclarify_private.shown_figures(null, null, null, decided.passages, null, null, null, null)
        from decided
        where decided.place = '{0,0,0,0}'
        union all
        select
            stage.place || array[1, 1], stage.depth, false,
            case stage.name
                when 'relaxation' then 'Relaxed question: '
                when 'retrieval' then 'Search: '
                else 'Note: '
            end || pgclarify_private.shown(stage.note)
        from stage
        left join step on step.ordinal = stage.step_ordinal
        where stage.note is not null
            -- The step says as much.
            and (
                stage.note = step.outcome
                or right(stage.note, length(step.question)) = step.question
                or right(stage.note, length(step.answer)) = step.answer
                or right(stage.note, length(step.reason)) = step.reason
            ) is not true
            -- So do the lines below it.
            and not (
                stage.name in ('detection', 'rewriting', 'listing')
                and exists (select from told where told.place_of_stage = stage.place)
            )
        union all
        select
            decided.place || array[1, 2], decided.depth, false,
            format(
                '%s: %s', case when decided.outcomes = '' then 'Kept' else 'Judged' end, decided.origins
            ) || coalesce('; ' || nullif(decided.outcomes, ''), '')
        from decided
        union all
        select
            decided.place || array[1, 3], decided.depth, false,
            format(
                'Calls: median %s ms, slowest %s ms (#%s)', pgclarify_private.shown_number(decided.median_ms),
                pgclarify_private.shown_number(decided.slowest_ms), decided.slowest_rank
            ) || coalesce(', on average ' || to_char(decided.at_once, 'FM999,990.0') || ' at once', '')
        from decided
        where decided.calls > 1
        union all
        select
            passage.place || array[2, passage.rank, 1], passage.depth, false,
            format(
                '#%s  %s  %s  %s', passage.rank,
                passage.origin || coalesce(
                    ' of #' || passage.via_rank, ' of passage ' || passage.via_passage_id, ''
                ),
                to_char(passage.score, 'FM999990.0000'),
                pgclarify_private.shown_passage(
                    passage.passage_id, passage.document_id, passage.title, passage.heading
                )
            )
            || coalesce(': ' || passage.outcome, '')
            || coalesce(', ' || pgclarify_private.shown(coalesce(passage.reason, passage.error)), '')
            || case
                when passage.is_reused then '  (reused)'
                else coalesce(
                    '  (' || nullif(
                        concat_ws(
                            ', ', 'time=' || pgclarify_private.shown_number(passage.paid_ms) || ' ms',
                            'tokens=' || pgclarify_private.shown_tokens(passage.prompt_tokens, passage.completion_tokens)
                        ),
                        ''
                    ) || ')',
                    ''
                )
            end
        from passage
        where explain_tree.detail = 'passages'
        union all
        select
            passage.place || array[2, passage.rank, 2], passage.depth, false,
            format(
                '    %s Answer: %s',
                pgclarify_private.shown(passage.interpretation), pgclarify_private.shown(passage.answer)
            )
        from passage
        where passage.outcome = 'grounded' and explain_tree.detail = 'passages'
        union all
        select
            stage.place || array[3, interpretation.ordinal], stage.depth, false,
            format(
                '%s. %s Answer: %s  (support=%s, cohesion=%s, from %s)', interpretation.ordinal,
                pgclarify_private.shown(interpretation.interpretation), pgclarify_private.shown(interpretation.answer),
                interpretation.support, to_char(interpretation.cohesion, 'FM0.00'),
                pgclarify_private.shown(cited.ranks, 60)
            )
        from pgclarify.interpretation
        inner join (
            select citation.ordinal, string_agg('#' || citation.candidate_rank, ' ' order by citation.rank) as ranks
            from pgclarify.citation
            where citation.run_id = (explain_tree.run).run_id and citation.candidate_rank <> all(v_withheld)
            group by citation.ordinal
            having bool_or(citation.is_medoid)
        ) as cited on cited.ordinal = interpretation.ordinal
        inner join stage on stage.name = 'consolidation'
        where interpretation.run_id = (explain_tree.run).run_id
        union all
        select told.place_of_stage || array[3] || told.place, told.depth, false, told.body
        from told
    )
    select
        case when line.is_node then 'node' else 'detail' end,
        repeat(' ', case when line.is_node then 6 * line.depth - 4 else 6 * line.depth + 2 end)
        || case when line.is_node then '->  ' else '' end
        || line.body
    from line
    order by line.place;
end
$$;

comment on function pgclarify_private.explain_tree(pgclarify.run, double precision, name[], text) is
'The stages of a run as lines, with batches, passages and interpretations below them. total_ms: how long it took; null if it '
'goes on. roles: whose titles of documents are shown. detail: stages, batches or passages.';
