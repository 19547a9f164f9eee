-- Rewriting questions so that they stand alone.

create or replace function pgclarify_private.prepare_rewriting(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.prepare_question(
        prepare_rewriting.caller, prepare_rewriting.run, prepare_rewriting.parameters
    );
begin
    if length(prepare_rewriting.parameters ->> 'question') <= 10000 then
        -- With its white space, so that a clear question is returned unchanged.
        v_run.question := prepare_rewriting.parameters ->> 'question';
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_rewriting(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for rewrite.';
