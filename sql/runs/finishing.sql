-- The end of a run: its interpretations, their citations, its stages and what it cost.

create or replace function pgclarify_private.finish_run(
    run_id bigint,
    attempt integer,
    status text,
    error text,
    error_code text,
    verdicts jsonb,
    interpretations jsonb,
    stages jsonb,
    stop_reason text,
    stop_code text,
    budget_id bigint,
    copied_ranks integer[] default '{}',
    copied_texts text[] default '{}',
    replies bigint[] default '{}'
)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run;
    v_synchronous_commit constant text := current_setting('synchronous_commit');
    v_stop_code text;
begin
    -- First, because it must not hold locks meanwhile.
    perform pgclarify_private.await_replies(finish_run.replies);
    v_run := pgclarify_private.lock_run(finish_run.run_id, finish_run.attempt);
    perform pgclarify_private.record_verdicts(finish_run.run_id, finish_run.attempt, finish_run.verdicts);
    if cardinality(finish_run.copied_ranks) > 0 then
        perform
        from pgclarify_private.record_copies(
            finish_run.run_id, finish_run.attempt, finish_run.copied_ranks, finish_run.copied_texts
        );
    end if;
    -- The end of a run must survive a crash.
    perform set_config('synchronous_commit', v_synchronous_commit, true);
    insert into pgclarify_private.interpretation
    select reading.*
    from jsonb_array_elements(finish_run.interpretations) with ordinality as given (value, ordinal)
    cross join lateral jsonb_populate_record(
        null::pgclarify_private.interpretation,
        '{"is_shown": true}' || given.value || jsonb_build_object('run_id', v_run.run_id, 'ordinal', given.ordinal)
    ) as reading;
    perform pgclarify_private.record_citations(v_run.run_id, finish_run.interpretations);
    insert into pgclarify_private.stage
    select stage.*
    from jsonb_array_elements(finish_run.stages) with ordinality as given (value, ordinal)
    cross join lateral jsonb_populate_record(
        null::pgclarify_private.stage,
        given.value || jsonb_build_object('run_id', v_run.run_id, 'ordinal', given.ordinal)
    ) as stage;
    update pgclarify_private.run
    set
        status = finish_run.status,
        error = finish_run.error,
        error_code = finish_run.error_code,
        stop_reason = finish_run.stop_reason,
        stop_code = pgclarify_private.stop_code(v_run, finish_run.status, finish_run.stop_code),
        budget_id = finish_run.budget_id,
        finished_at = clock_timestamp(),
        interpretations = case
            when pgclarify_private.finds_readings(v_run.operation) and finish_run.status in ('succeeded', 'partial')
                then pgclarify_private.result_count(v_run)
        end,
        candidates = (
            select count(*) from pgclarify_private.candidate
            where candidate.run_id = v_run.run_id and candidate.copy_of is null
        ),
        verdicts = (select count(distinct verdict.rank) from pgclarify_private.verdict where verdict.run_id = v_run.run_id),
        completions = paid.completions,
        prompt_tokens = paid.prompt_tokens,
        cached_tokens = paid.cached_tokens,
        completion_tokens = paid.completion_tokens,
        cost_usd = paid.cost_usd,
        batched_completions = paid.batched_completions,
        batch_saved_usd = paid.batch_saved_usd,
        cache_saved_usd = paid.cache_saved_usd,
        unanswered_calls = unanswered.calls,
        unanswered_usd = unanswered.cost_usd,
        mends = (
            select pgclarify_private.sum_of_counts(array_agg(stage.mends) filter (where stage.mends is not null))
            from pgclarify_private.stage
            where stage.run_id = v_run.run_id
        ),
        reuse_saved_usd = (
            select
                case
                    when coalesce(sum(stage.reused_calls), 0) = 0 then 0
                    else pgclarify_private.cost_usd(
                        v_run.model, sum(stage.reused_prompt_tokens)::bigint, sum(stage.reused_completion_tokens)::bigint
                    )
                end
            from pgclarify_private.stage
            where stage.run_id = v_run.run_id
        ),
        reused_completions = (
            select coalesce(sum(stage.reused_calls), 0)
            from pgclarify_private.stage
            where stage.run_id = v_run.run_id
        ) + (
            -- No stage counts verdicts that were copied.
            select count(distinct verdict.completion_id)
            from pgclarify_private.verdict
            where verdict.run_id = v_run.run_id and pgclarify_private.copies_verdicts(v_run.operation)
        )
    from pgclarify_private.paid(v_run.run_id) as paid
    cross join pgclarify_private.unanswered(v_run.run_id) as unanswered
    where run.run_id = v_run.run_id
    returning run.stop_code into v_stop_code;
    return v_stop_code;
end
$$;

comment on function pgclarify_private.finish_run(
    bigint, integer, text, text, text, jsonb, jsonb, jsonb, text, text, bigint, integer[], text[], bigint[]
) is
'End a run, and return the stop code that is stored. verdicts: as in record_verdicts, those that are not stored yet. '
'interpretations: array of objects with the columns of table interpretation but run_id and ordinal, and citations '
'(candidate_rank, is_medoid, quote, start_char, end_char), in order. stages: array of objects with the columns of table '
'stage, in order. '
'stop_code: the code that only the worker can know; other codes follow from the tables. budget_id: the first budget that '
'refused a call. copied_ranks, copied_texts: candidates whose copies are cited, too: ranks and texts of record_copies. '
'replies: rows of the ledger that the worker is storing on another connection; it waits for them.';
grant execute on function
    pgclarify_private.finish_run(
        bigint, integer, text, text, text, jsonb, jsonb, jsonb, text, text, bigint, integer[], text[], bigint[]
    ) to pgclarify_worker;
