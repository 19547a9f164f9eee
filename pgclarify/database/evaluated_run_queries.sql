-- Statements about single runs that an evaluation sends, as whoever evaluates.

-- name: eval_list_serving_workers
-- Who answers on the workers that live, but for one that only takes part in the ledger.
select worker.provider, worker.model, worker.prompt_version
from pgclarify.worker_status as worker
where worker.is_alive and worker.worker_id <> coalesce(%(except_worker_id)s::bigint, 0)
group by worker.provider, worker.model, worker.prompt_version;

-- name: eval_get_run_facts
-- What a run made of its question, why it went no further, and whether it was asked for before a time.
select run.relaxed_question, run.stop_reason, run.created_at < %(time)s::timestamptz as was_there
from pgclarify.run
where run.run_id = %(run_id)s;

-- name: eval_get_time
-- The server's clock.
select clock_timestamp() as now;

-- name: eval_find_run
-- The latest run of the caller that asked this question in this way.
select max(run.run_id) as run_id
from pgclarify.run
where
    run.operation = %(operation)s
    and run.question = %(question)s
    and run.corpus_id = %(corpus_id)s
    and run.requested_by = current_user
    and run.settings @> %(settings)s::jsonb;
