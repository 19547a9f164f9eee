-- Investigating: settings, and the results for roles that may see the run.

create or replace function pgclarify_private.check_investigating(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := check_investigating.settings;
    v_batches integer;
begin
    -- A reranker of its own scores as many as in SUNAR, §4. With the language model, each passage is a call.
    v_settings := jsonb_build_object(
        'max_passages',
        greatest(
            case when v_settings ->> 'reranker' in ('signal', 'model') then 32 else 100 end,
            (v_settings -> 'top_k')::integer
        )
    ) || v_settings;
    perform pgclarify_private.scores_passages(v_settings);
    v_batches := ceil((v_settings -> 'max_passages')::integer / 16.0);
    -- Two calls for the plan and for each answer, which may be asked for twice; the samples of each batch.
    return jsonb_build_object(
        'max_calls',
        least(
            10000,
            2 + ((v_settings -> 'max_steps')::integer + 1) * (2 + v_batches * (v_settings -> 'samples')::integer)
            + case when v_settings -> 'meta' = 'true' then 2 else 0 end
        )
    ) || v_settings;
end
$$;

comment on function pgclarify_private.check_investigating(jsonb) is
'As check_settings, for investigations: max_passages and max_calls are always present.';

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
