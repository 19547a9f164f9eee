-- The first call of a run is claimed by the statement that takes the run, so that no caller waits for two statements.

create or replace function pgclarify_private.claim_first_call(
    worker_id bigint, run_id bigint, attempt integer, lease interval, call jsonb, is_sent boolean
)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rendered text;
    v_hash bytea;
begin
    select
        (claim_first_call.call ->> 'before') || substr(quoted.question, 2, length(quoted.question) - 2)
        || (claim_first_call.call ->> 'after')
    into v_rendered
    from pgclarify_private.run
    cross join lateral (select to_json(run.question)::text as question) as quoted
    where
        run.run_id = claim_first_call.run_id
        -- A call of an earlier attempt may still go on in this worker.
        and claim_first_call.attempt = 1
        and pgclarify_private.relaxes_question(run.operation)
        -- With these, the run relaxes another question, or first finds out whether it relaxes one.
        and not run.settings ?| array['history', 'ask_back']
        -- Prompts change other white space, and what looks like a marker.
        and run.question !~ '^\s|\s$|\s\s|[^\S ]|[<\[]';
    if v_rendered is null then
        return null;
    end if;
    v_hash := sha256(convert_to(v_rendered, 'UTF8'));
    return (
        select to_jsonb(claimed) || jsonb_build_object('input_hash', encode(v_hash, 'hex'))
        from pgclarify_private.claim_completions(
            worker_id => claim_first_call.worker_id,
            run_id => claim_first_call.run_id,
            lease => claim_first_call.lease,
            calls => jsonb_build_array(
                claim_first_call.call - 'before' - 'after'
                || jsonb_build_object('input_hash', v_hash, 'input_bytes', octet_length(v_rendered))
            ),
            attempt => claim_first_call.attempt,
            corpus_id => null,
            sent_at_once => claim_first_call.is_sent::integer
        ) as claimed
    );
exception
    -- Whatever it is: the run claims the call itself then, and waits for locks as it always does.
    when query_canceled or others then
        return null;
end
$$;

comment on function pgclarify_private.claim_first_call(bigint, bigint, integer, interval, jsonb, boolean) is
'Claim the call that relaxes the question of a run that was just taken, as claim_completions does: its row as an object, with '
'input_hash: the SHA-256 of the input, in hexadecimal digits. Null if the run begins with something else, or if the call '
'cannot be claimed now. call: the attributes of model_call but input_hash and input_bytes, and before and after: the rendered '
'input around the question, which is a part of a JSON string. The worker makes the call only if it renders the same input. '
'is_sent: whether the worker sends the call at once.';
grant execute on function pgclarify_private.claim_first_call(bigint, bigint, integer, interval, jsonb, boolean)
to pgclarify_worker;
