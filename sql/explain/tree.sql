-- explain: the tree of steps and stages, and the lines below each.

create or replace function pgclarify_private.explained_steps(run_id bigint, total_ms double precision, withheld integer[])
returns table (place integer[], depth integer, label text, body text, figures text[])
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    -- The sums of their stages.
    with staged as (
        select
            stage.step_ordinal, min(stage.start_ms) as start_ms, max(stage.end_ms) as end_ms, sum(stage.calls)::bigint as calls,
            sum(stage.reused_calls)::bigint as reused_calls, sum(stage.prompt_tokens)::bigint as prompt_tokens,
            sum(stage.completion_tokens)::bigint as completion_tokens
        from pgclarify_private.placed_stages(explained_steps.run_id) as stage
        where stage.step_ordinal is not null
        group by stage.step_ordinal
    ),
    step as (
        select
            coalesce(known.ordinal, staged.step_ordinal) as ordinal, known.kind, known.question, known.answer,
            known.own ->> 'outcome' as outcome, (known.own -> 'confidence')::real as confidence,
            known.own ->> 'reason' as reason, known.own ->> 'semantic_sets' as semantic_sets, staged.start_ms, staged.end_ms,
            staged.calls, staged.reused_calls, staged.prompt_tokens, staged.completion_tokens
        from (
            select found.*
            from pgclarify_private.run_findings(explained_steps.run_id, explained_steps.withheld) as found
            -- Only steps have one.
            where found.own ? 'outcome'
        ) as known
        full join staged on staged.step_ordinal = known.ordinal
    )
    select
        array[step.ordinal, 0] as place, 1 as depth, null::text as label,
        '->  step ' || step.ordinal || coalesce(', ' || step.kind, '')
        || coalesce(': "' || pgclarify_private.shown(step.question) || '"', '') as body,
        pgclarify_private.shown_figures(
            step.start_ms, step.end_ms, (step.end_ms - step.start_ms) / explained_steps.total_ms, null, step.calls,
            step.reused_calls, step.prompt_tokens, step.completion_tokens
        ) as figures
    from step
    union all
    select
        array[step.ordinal, 0, 1], 4,
        case when step.answer is not null then 'Answer' else 'No answer' end,
        coalesce(pgclarify_private.shown(step.answer), step.outcome),
        array['confidence=' || to_char(step.confidence, 'FM0.00'), 'semantic sets=' || step.semantic_sets]
    from step
    where step.outcome is not null
    union all
    select
        array[step.ordinal, 0, 2], 4, 'Remark',
        pgclarify_private.shown(step.reason, 200), null
    from step
    where step.reason is not null;
end;

comment on function pgclarify_private.explained_steps(bigint, double precision, integer[]) is
'The steps of an investigation as lines of explain_tree, each with its answer, and its place there; none for other runs.';

create or replace function pgclarify_private.explain_tree(
    run pgclarify_private.run, total_ms double precision, roles name[], detail text
)
returns table (depth integer, label text, body text, figures text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_withheld constant integer[] := pgclarify_private.withheld_ranks((explain_tree.run).run_id, explain_tree.roles);
begin
    return query
    with stage as materialized (
        select placed.*
        from pgclarify_private.placed_stages((explain_tree.run).run_id) as placed
    ),
    candidate as materialized (
        select known.*
        from pgclarify_private.run_passages((explain_tree.run).run_id, explain_tree.roles, v_withheld) as known
    ),
    -- The stage under which the passages of a step are listed: the one that judged them.
    home as materialized (
        select distinct on (stage.step_ordinal) stage.step_ordinal, stage.place, stage.depth, stage.busy_ms
        from stage
        where stage.name in ('judgement', 'reranking', 'retrieval', 'neighbors')
        order by stage.step_ordinal, array_position('{judgement,reranking,retrieval,neighbors}', stage.name)
    ),
    passage as materialized (
        select
            candidate.*, candidate.outcome is not distinct from 'copy' as is_copy, coalesce(home.place, '{0,0}') as place, coalesce(home.depth, 1) as depth, home.busy_ms
        from candidate
        left join home on home.step_ordinal is not distinct from candidate.step_ordinal
    ),
    -- The results of the passages below one stage.
    decided as materialized (
        select
            passage.place, passage.depth, count(*) filter (where not passage.is_copy) as passages,
            concat_ws(
                ', ',
                nullif(count(*) filter (where passage.origin = 'dense' and not passage.is_copy), 0) || ' dense',
                nullif(count(*) filter (where passage.origin = 'lexical' and not passage.is_copy), 0) || ' lexical',
                nullif(count(*) filter (where passage.origin = 'neighbor' and not passage.is_copy), 0) || ' neighbor'
            ) as origins,
            concat_ws(
                ', ',
                nullif(count(*) filter (where passage.outcome = 'grounded'), 0) || ' grounded',
                nullif(count(*) filter (where passage.outcome = 'abstained'), 0) || ' abstained',
                nullif(count(*) filter (where passage.outcome = 'failed'), 0) || ' failed',
                nullif(count(*) filter (where passage.outcome = 'not judged'), 0) || ' not judged',
                nullif(count(*) filter (where passage.is_copy), 0) || ' of the same text'
            ) as outcomes,
            count(passage.paid_ms) as calls,
            percentile_cont(0.5) within group (order by passage.paid_ms) as median_ms,
            max(passage.paid_ms) as slowest_ms,
            (array_agg(passage.rank order by passage.paid_ms desc nulls last, passage.rank))[1] as slowest_rank,
            -- Calls of an earlier attempt are no part of the time of this one.
            case when (explain_tree.run).attempt = 1 then sum(passage.paid_ms) / nullif(min(passage.busy_ms), 0) end as at_once,
            bool_and(coalesce(passage.is_reused, false)) filter (where not passage.is_copy) as are_reused
        from passage
        group by passage.place, passage.depth
    ),
    line as (
        select steps.*
        from pgclarify_private.explained_steps((explain_tree.run).run_id, explain_tree.total_ms, v_withheld) as steps
        union all
        select
            stage.place, stage.depth, null,
            '->  ' || stage.name || case
                when stage.times > 1 then
                    format(', %s %s', stage.times, case when stage.batches = stage.times then 'batches' else 'times' end)
                else ''
            end,
            pgclarify_private.shown_figures(
                stage.start_ms, stage.end_ms, stage.busy_ms / explain_tree.total_ms, stage.rows, stage.calls,
                stage.reused_calls, stage.prompt_tokens, stage.completion_tokens
            )
        from stage
        union all
        select
            decided.place, 1, null,
            -- Without a stage that searched or judged, all verdicts may be those of another run.
            '->  ' || coalesce(
                'verdicts of run ' || case when decided.are_reused then (explain_tree.run).parent_run_id end, 'passages'
            ),
            pgclarify_private.shown_figures(null, null, null, decided.passages, null, null, null, null)
        from decided
        where decided.place = '{0,0}'
        union all
        select
            stage.place || array[1, 1], stage.depth + 3,
            case stage.name
                when 'relaxation' then 'Relaxed question'
                when 'retrieval' then 'Search'
                else 'Note'
            end,
            pgclarify_private.shown(stage.note), null
        from stage
        left join pgclarify_private.step
            on step.run_id = (explain_tree.run).run_id and step.ordinal = stage.step_ordinal
        where stage.note is not null
            -- The step says the same.
            and stage.note is distinct from step.outcome
        union all
        select
            decided.place || array[1, 2], decided.depth + 3,
            case when decided.outcomes = '' then 'Kept' else 'Judged' end,
            decided.origins || coalesce('; ' || nullif(decided.outcomes, ''), ''), null
        from decided
        union all
        select
            decided.place || array[1, 3], decided.depth + 3, 'Calls',
            format(
                'median %s ms, slowest %s ms (#%s)', pgclarify_private.shown_number(decided.median_ms),
                pgclarify_private.shown_number(decided.slowest_ms), decided.slowest_rank
            ) || coalesce(', on average ' || to_char(decided.at_once, 'FM999,990.0') || ' at once', ''),
            null
        from decided
        where decided.calls > 1
        union all
        select
            passage.place || array[2, passage.rank, 1], passage.depth + 3, null,
            format(
                '#%s  %s  %s  passage %s of %s', passage.rank, passage.reached_by,
                to_char(passage.score, 'FM999990.0000'), passage.passage_id, pgclarify_private.shown(passage.document_id, 60)
            )
            || coalesce(' (' || nullif(pgclarify_private.shown(passage.title), '') || ')', '')
            || coalesce(': ' || passage.outcome, '')
            || coalesce(', ' || pgclarify_private.shown(passage.reason), ''),
            case
                when passage.is_reused then array['reused']
                else array[
                    'time=' || pgclarify_private.shown_number(passage.paid_ms) || ' ms',
                    'tokens=' || pgclarify_private.shown_tokens(passage.prompt_tokens, passage.completion_tokens),
                    'read with ' || nullif(pgclarify_private.shown('#' || array_to_string(passage.read_with, ' #'), 60), '#')
                ]
            end
        from passage
        where explain_tree.detail = 'passages'
        union all
        select
            passage.place || array[2, passage.rank, 2], passage.depth + 5, null,
            format(
                '%s Answer: %s',
                pgclarify_private.shown(passage.interpretation), pgclarify_private.shown(passage.answer)
            ),
            null
        from passage
        where explain_tree.detail = 'passages' and passage.outcome = 'grounded'
        union all
        select
            passage.place || array[2, passage.rank, 2 + other.ordinal::integer], passage.depth + 5, null,
            pgclarify_private.shown(other.reading), null
        from passage
        cross join lateral unnest(passage.other_readings) with ordinality as other (reading, ordinal)
        where explain_tree.detail = 'passages'
        union all
        select
            coalesce(home.place, '{2147483647}') || array[case when reading.is_shown then 3 else 4 end, reading.ordinal],
            coalesce(home.depth + 3, 1),
            case when not reading.is_shown then 'Not shown' end,
            case when reading.is_shown then reading.ordinal || '. ' else '' end
            || format('%s Answer: %s', pgclarify_private.shown(reading.question), pgclarify_private.shown(reading.answer))
            || case when reading.is_shown then '' else ' It is less sure than option include asks for.' end,
            array[
                'support=' || own.support,
                'cohesion=' || to_char(own.cohesion, 'FM0.00'),
                'probability=' || to_char(own.probability, 'FM0.00'),
                case when own.level <> 'likely' or not reading.is_shown then 'level ' || own.level end,
                case when own.is_contested then 'contested' end,
                'doubted: ' || own.doubt,
                case when own.older_hidden > 0 then format('%s older hidden', own.older_hidden) end,
                'from ' || pgclarify_private.shown('#' || array_to_string(reading.ranks, ' #'), 60)
            ]
        from pgclarify_private.run_findings((explain_tree.run).run_id, v_withheld) as reading
        cross join lateral jsonb_populate_record(null::pgclarify_private.interpretation, reading.own) as own
        left join stage as home on home.name = 'consolidation'
        where reading.kind = 'reading'
        union all
        select
            home.place || array[5], home.depth + 3, 'Not shown',
            format(
                '#%s, because an option leaves them out', array_to_string(array_agg(passage.rank order by passage.rank), ' #')
            ),
            null
        from passage
        inner join stage as home on home.name = 'consolidation'
        where
            passage.outcome = 'grounded'
            and not exists (
                select from pgclarify_private.citation
                where citation.run_id = (explain_tree.run).run_id and citation.candidate_rank = passage.rank
            )
        group by home.place, home.depth
        union all
        select
            '{2147483646}', 1, 'Outside of stages',
            format(
                '%s ms, %s%%, for starting, embedding and storing', pgclarify_private.shown_number(outside.ms),
                round(100 * outside.ms / explain_tree.total_ms)
            ),
            null
        from pgclarify_private.time_outside_of_stages((explain_tree.run).run_id, explain_tree.total_ms) as outside (ms)
        where outside.ms is not null
        union all
        -- Why passages have no answer.
        select
            array[2147483647, 4] || why.place::integer, 1, format('%s %s', why.passages, why.outcome),
            coalesce(pgclarify_private.shown(why.reason), 'no reason is known'), null
        from (
            select
                passage.outcome, passage.reason, count(*) as passages,
                row_number() over (order by count(*) desc, passage.outcome, passage.reason) as place
            from passage
            where passage.outcome not in ('grounded', 'not judged', 'copy')
            group by passage.outcome, passage.reason
        ) as why
        where why.place <= 5
    )
    select line.depth, line.label, line.body, line.figures
    from line
    order by line.place;
end
$$;

comment on function pgclarify_private.explain_tree(pgclarify_private.run, double precision, name[], text) is
'The stages of a run as lines, with passages and readings below them, and why passages have no answer. total_ms: its time; '
'null if it is not over. roles: decide which titles of documents are shown. detail: stages or passages.';
