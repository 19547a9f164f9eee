-- What a run found: its readings, the steps of an investigation, or listed answers; of the tree of explain, and of its page.

create or replace function pgclarify_private.noun_of_findings(operation text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case known.result_view
            when 'interpretation' then 'reading'
            when 'investigation_step' then 'step'
            when 'listed_answer' then 'answer'
        end
    from pgclarify_private.operations() as known
    where known.operation = noun_of_findings.operation;
end;

comment on function pgclarify_private.noun_of_findings(text) is
'What a finding of an operation is called; null if it has other results, such as passages or a rewritten question.';

create or replace function pgclarify_private.run_findings(run_id bigint, withheld integer[])
returns table (ordinal integer, kind text, question text, answer text, ranks integer[], is_shown boolean, own jsonb)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    with cited as materialized (
        select
            citation.ordinal,
            array_agg(citation.candidate_rank order by citation.rank) filter (where not closed.is_closed) as ranks,
            bool_or(closed.is_closed) as has_closed,
            bool_or(closed.is_closed) filter (where citation.rank = 1) as is_closed_first,
            coalesce(bool_or(citation.is_medoid) filter (where not closed.is_closed), false) as has_medoid
        from pgclarify_private.citation
        cross join lateral (select citation.candidate_rank = any(run_findings.withheld) as is_closed) as closed
        where citation.run_id = run_findings.run_id
        group by citation.ordinal
    )
    select
        found.ordinal, 'reading' as kind, found.interpretation as question, found.answer, cited.ranks, found.is_shown,
        to_jsonb(found) as own
    from pgclarify_private.interpretation as found
    inner join cited on found.ordinal = cited.ordinal and cited.has_medoid
    where found.run_id = run_findings.run_id
    union all
    select
        step.ordinal, replace(step.kind, '_', '-'), step.question, step.answer, coalesce(cited.ranks, '{}'), true,
        to_jsonb(step)
    from pgclarify_private.step
    left join cited on step.ordinal = cited.ordinal
    where step.run_id = run_findings.run_id
        -- A step's question may repeat the answer of an earlier step.
        and not exists (select from cited as earlier where earlier.ordinal <= step.ordinal and earlier.has_closed)
    union all
    select
        listed.ordinal, 'answer', null, listed.answer, coalesce(cited.ranks, '{}'), true,
        jsonb_build_object('variants', array_remove(listed.variants, listed.answer))
    from pgclarify_private.listed_answer as listed
    left join cited on listed.ordinal = cited.ordinal
    where listed.run_id = run_findings.run_id
        and cited.is_closed_first is not true
        -- Each spelling may be from another citation.
        and not (coalesce(cited.has_closed, false) and cardinality(listed.variants) > 1)
    order by ordinal;
end;

comment on function pgclarify_private.run_findings(bigint, integer[]) is
'What a run found, by ordinal, without what may repeat a passage of a withheld rank, as in the policies of views. kind: '
'reading, answer, or the kind of a step. ranks: of the passages that it cites. own: the columns that only its kind has. It '
'does not check who may see the run.';
