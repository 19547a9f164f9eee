-- Reading the results of investigations, for roles that may see the run.

create or replace view pgclarify.investigation_step as
select
    step.run_id,
    step.ordinal,
    step.kind,
    step.question || '' as question,
    step.answer || '' as answer,
    step.outcome,
    step.confidence,
    step.reason || '' as reason,
    step.semantic_sets,
    step.created_at,
    step.abstention_code
from pgclarify_private.step;

comment on view pgclarify.investigation_step is
'The questions of investigations and their answers, also while a run is not over.';
comment on column pgclarify.investigation_step.abstention_code is
'Why there is no evidence: not_answered, no_passage or unproven; null for other outcomes.';
grant select on pgclarify.investigation_step to pgclarify_reader;

create or replace function pgclarify_private.rows(row_type pgclarify.investigation, run_ids bigint[], requester name)
returns setof pgclarify.investigation
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with cited as materialized (
        select found.* from pgclarify_private.cited(rows.run_ids, pgclarify_private.roles_of(rows.requester)) as found
    ),
    shown as materialized (
        select step.*, coalesce(cited.document_ids, '{}') as document_ids, coalesce(cited.citations, '[]') as citations
        from pgclarify_private.step as step
        left join cited on step.run_id = cited.run_id and step.ordinal = cited.ordinal
        where step.run_id = any(rows.run_ids)
            -- A step's question may repeat the answer of an earlier step.
            and not exists (
                select from cited as earlier
                where earlier.run_id = step.run_id and earlier.ordinal <= step.ordinal and earlier.is_withheld
            )
    )
    select
        run.run_id,
        run.status,
        conclusion.outcome,
        conclusion.answer,
        conclusion.confidence,
        (
            select
                coalesce(
                    jsonb_agg(to_jsonb(step) - 'document_ids' order by step.ordinal),
                    '[]'
                )
            from shown as step
            where step.run_id = run.run_id
        ),
        coalesce(conclusion.document_ids, '{}'),
        coalesce(conclusion.citations, '[]')
    from pgclarify_private.run
    left join shown as conclusion on run.run_id = conclusion.run_id and conclusion.kind = 'conclusion'
    where run.run_id = any(rows.run_ids)
    order by run.run_id;
end;

comment on function pgclarify_private.rows(pgclarify.investigation, bigint[], name) is
'Results of investigations, one row for each. It does not check who may see them; documents are those that the requester may '
'read now.';

