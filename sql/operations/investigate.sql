-- Investigating: settings, and the results for roles that may see the run.

create or replace function pgclarify_private.check_investigating(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.scores_passages(check_investigating.settings);
    return check_investigating.settings;
end
$$;

comment on function pgclarify_private.check_investigating(jsonb) is 'As check_settings, for investigations.';

create or replace function pgclarify_private.investigation_rows(run_ids bigint[], requester name)
returns setof pgclarify.investigation
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with cited as materialized (
        select found.*
        from pgclarify_private.cited(
            investigation_rows.run_ids, pgclarify_private.roles_of(investigation_rows.requester)
        ) as found
    ),
    shown as materialized (
        select step.*, coalesce(cited.document_ids, '{}') as document_ids, coalesce(cited.citations, '[]') as citations
        from pgclarify_private.step as step
        left join cited on step.run_id = cited.run_id and step.ordinal = cited.ordinal
        where step.run_id = any(investigation_rows.run_ids)
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
    where run.run_id = any(investigation_rows.run_ids)
    order by run.run_id;
end;

comment on function pgclarify_private.investigation_rows(bigint[], name) is
'Results of investigations, one row for each. It does not check who may see them; documents are those that the requester may '
'read now.';
