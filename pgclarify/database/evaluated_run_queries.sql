-- Statements about single runs that an evaluation sends, as the role that evaluates.

-- name: eval_get_run_facts
-- How a run ended and why, its relaxed question, the number of its searches; whether it existed before a time.
select
    run.status, run.relaxed_question, run.stop_reason, run.stop_code, run.error_code,
    case
        when run.error_code is null then null
        -- A call that fails ends these operations, so their stop_reason has its message.
        when run.operation in ('list_answers', 'rewrite') then run.stop_reason
        else coalesce(
            (
                select verdict.error
                from pgclarify.verdict
                where verdict.run_id = run.run_id and verdict.error_code = run.error_code
                order by verdict.rank
                limit 1
            ),
            (
                -- A failed conclusion may repeat the message of an earlier call, so it comes last.
                select step.reason
                from pgclarify.step
                where step.run_id = run.run_id and step.outcome = 'failed'
                order by step.kind = 'conclusion', step.ordinal desc
                limit 1
            )
        )
    end as failure,
    run.created_at < %(time)s::timestamptz as was_there,
    (
        select count(*)
        from pgclarify.stage
        where stage.run_id = run.run_id
            -- Detection searches once if it has a corpus.
            and stage.name = case run.operation when 'detect_ambiguity' then 'checking' else 'retrieval' end
    ) as retrievals
from pgclarify.run
where run.run_id = %(run_id)s;

-- name: eval_find_reply
-- The latest run of reply to a run of clarifying_questions; no row if there is none.
select run.run_id
from pgclarify.run
where run.parent_run_id = %(run_id)s and run.operation = 'reply'
order by run.run_id desc
limit 1;

-- name: eval_find_run
-- The caller's latest run that answered this question with these settings since a time.
select max(run.run_id) as run_id
from pgclarify.run
where
    run.operation = %(operation)s
    and run.question = %(question)s
    and run.corpus_id = %(corpus_id)s
    and run.requested_by = current_user
    and run.settings @> %(settings)s::jsonb
    and run.status in ('succeeded', 'partial')
    and run.created_at >= %(since)s::timestamptz;
