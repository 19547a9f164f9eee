-- Consolidating the verdicts of a run again.

create or replace function pgclarify_private.check_grouping(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb
        := check_grouping.settings - 'hdbscan' || coalesce(check_grouping.settings -> 'hdbscan', '{}');
    v_idle text;
begin
    select known.name into v_idle
    from jsonb_object_keys(pgclarify_private.options_of('clarify') #> '{hdbscan,keys}') as known (name)
    where v_settings ? known.name and v_settings ->> 'consolidation' <> 'hdbscan'
    limit 1;
    if found then
        raise exception 'option "%" is for consolidation "hdbscan"', v_idle
            using errcode = 'invalid_parameter_value',
                column = v_idle,
                detail = format('consolidation is %s.', v_settings ->> 'consolidation'),
                hint = 'Also pass {"consolidation": "hdbscan"}, or omit it.';
    end if;
    return v_settings;
end
$$;

comment on function pgclarify_private.check_grouping(jsonb) is
'As check_settings, for the options of how readings are grouped. What option hdbscan has becomes settings of their own, as '
'consolidate has them.';

create or replace function pgclarify_private.prepare_consolidation(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := prepare_consolidation.run;
    v_parent constant pgclarify_private.run := pgclarify_private.parent_run(
        prepare_consolidation.caller, (prepare_consolidation.parameters ->> 'run_id')::bigint, '{clarify,consolidate}'
    );
begin
    v_run.corpus_id := v_parent.corpus_id;
    v_run.question := v_parent.question;
    v_run.parent_run_id := v_parent.run_id;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_consolidation(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for consolidate: a run that goes on from the run run_id.';
