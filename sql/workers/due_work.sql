-- Work that workers have to do. One statement returns it, so that an idle worker sends hardly any other.

create or replace function pgclarify_private.due_work()
returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        array_remove(
            array[
                case when exists (select from pgclarify_private.building_spaces()) then 'spaces' end,
                case when exists (select from pgclarify_private.due_spaces()) then 'space_steps' end,
                -- The order makes the planner use an index. Without it, or with exists, which drops the order, a plan may
                -- read the whole queue.
                case when (
                    select true
                    from pgclarify_private.pending_document as pending
                    where not pending.is_long
                    order by pending.corpus_id
                    limit 1
                ) then 'documents' end,
                case when (
                    select true
                    from pgclarify_private.pending_document as pending
                    where pending.is_long
                    order by pending.added_at
                    limit 1
                ) then 'long_documents' end,
                case when exists (
                    select from pgclarify_private.embedding_space as space
                    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
                    where space.state = 'building' and space.queued_document_id is not null
                ) then 'passages' end,
                case when exists (select from pgclarify_private.linkable_spaces()) then 'graph' end,
                case when exists (select from pgclarify_private.term_change) then 'terms' end,
                case when exists (
                    select from pgclarify_private.corpus_tally as added where not added.is_merged
                ) then 'tallies' end,
                case when exists (select from pgclarify_private.waiting_sources()) then 'source_changes' end,
                case when exists (select from pgclarify_private.source) then 'source_inspection' end,
                case when exists (select from pgclarify_private.served_answer) then 'served_answers' end,
                case when exists (
                    select from pgclarify_private.run
                    where
                        run.question_group_id is null
                        and run.corpus_id is not null
                        and run.finished_at is not null
                        and pgclarify_private.answers_questions(run.operation)
                ) then 'question_groups' end,
                case when exists (
                    select from pgclarify_private.run
                    where run.status = 'queued' and (run.due_at is null or run.due_at <= now())
                ) then 'runs' end,
                case when exists (select from pgclarify_private.run where run.status = 'running') then 'lost_runs' end,
                -- An evaluation makes calls without a run. The order is as above.
                case when (
                    select true
                    from pgclarify_private.completion
                    where completion.budget_ids is not null
                    order by completion.reserved_at
                    limit 1
                ) then 'lost_calls' end,
                case when exists (select from pgclarify_private.batch where batch.due_at <= clock_timestamp()) or exists (
                    select from pgclarify_private.batch_request as request where request.batch_id is null
                ) then 'batches' end,
                case when exists (
                    select
                    from pgclarify_private.model_trial as trial
                    -- The model of a worker that is gone may never serve again.
                    inner join pgclarify_private.worker on trial.model_trial_id = worker.model_trial_id
                    where
                        trial.finished_at is null
                        and (trial.due_at is null or trial.due_at <= clock_timestamp())
                        and worker.seen_at + worker.lease > clock_timestamp()
                ) then 'model_trials' end
            ],
            null
        );
end;

comment on function pgclarify_private.due_work() is
'Kinds of work that a worker may have to do: names that pgclarify/worker/serving.py knows. It includes work that another '
'worker is doing.';
grant execute on function pgclarify_private.due_work() to pgclarify_worker;
