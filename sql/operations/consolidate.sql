-- Consolidating the verdicts of a run again.

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
