-- Steps of investigations: functions that workers call.

create or replace function pgclarify_private.record_step(run_id bigint, attempt integer, step jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_step.run_id, record_step.attempt);
    v_ordinal constant integer := record_step.step -> 'ordinal';
begin
    -- This replaces an existing step and its citations, because a worker sends a step again if it does not know whether it was
    -- stored.
    delete from pgclarify_private.step as earlier where earlier.run_id = v_run.run_id and earlier.ordinal = v_ordinal;
    delete from pgclarify_private.citation as earlier where earlier.run_id = v_run.run_id and earlier.ordinal = v_ordinal;
    insert into pgclarify_private.step
    select given.*
    from jsonb_populate_record(
        null::pgclarify_private.step,
        record_step.step || jsonb_build_object('run_id', v_run.run_id, 'created_at', clock_timestamp())
    ) as given;
    perform pgclarify_private.record_citations(v_run.run_id, jsonb_build_array(record_step.step));
end
$$;

comment on function pgclarify_private.record_step(bigint, integer, jsonb) is
'Store a step of a run when it is done, instead of an existing step with its ordinal. step: object with ordinal, kind, '
'question, answer, outcome, confidence, reason, semantic_sets, abstention_code and citations (candidate_rank, quote, '
'start_char, end_char), in order.';
grant execute on function pgclarify_private.record_step(bigint, integer, jsonb) to pgclarify_worker;
