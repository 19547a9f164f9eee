-- The stop code of a run: why a run that ended by itself has no result, or only a part of it.

create or replace function pgclarify_private.stop_code(run pgclarify_private.run, status text, known text)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_status alias for $2;
    v_known alias for $3;
begin
    if v_status not in ('succeeded', 'partial') then
        -- The error gives the reason.
        return null;
    elsif v_known in ('budget', 'limit', 'failed_calls') then
        return v_known;
    elsif v_status = 'partial' then
        return 'failed_calls';
    elsif coalesce(pgclarify_private.result_count(v_run), 1) > 0 then
        return null;
    elsif pgclarify_private.copies_verdicts(v_run.operation) then
        -- They are the grounded verdicts of another run, so it cannot know why there are none.
        return coalesce(
            v_known, (select parent.stop_code from pgclarify_private.run as parent where parent.run_id = v_run.parent_run_id)
        );
    elsif not exists (select from pgclarify_private.candidate where candidate.run_id = v_run.run_id) then
        return 'no_passage';
    end if;
    return coalesce(
        v_known, case when pgclarify_private.is_extractive(v_run.model) then 'no_language_model' else 'not_answered' end
    );
end
$$;

comment on function pgclarify_private.stop_code(pgclarify_private.run, text, text) is
'The stop code of a run that ends with a status: null if its result is complete, or if it failed. known: the code that only '
'the worker can know, for example that a budget refused a call; null if the tables say enough.';
