-- Runs and what they found, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.run as
select
    run.run_id,
    run.operation,
    living.corpus_id,
    run.corpus_name || '' as corpus,
    pgclarify_private.asked(run.question, run.settings) || '' as question,
    run.relaxed_question || '' as relaxed_question,
    coalesce(run.settings -> 'history', '[]') as history,
    run.settings - 'history' as settings,
    run.parent_run_id,
    (run.requested_by || '')::name as requested_by,
    run.status,
    run.error || '' as error,
    run.attempt,
    run.worker_id,
    run.corpus_revision,
    run.model || '' as model,
    run.prompt_version || '' as prompt_version,
    run.completions,
    run.reused_completions,
    run.prompt_tokens,
    run.completion_tokens,
    run.cost_usd,
    run.created_at,
    run.started_at,
    run.finished_at,
    run.stop_reason || '' as stop_reason,
    run.graph_revision,
    run.route,
    run.embedding_model || '' as embedding_model,
    case
        when pgclarify_private.finds_readings(run.operation)
            -- Counted here for runs that no worker has ended.
            then coalesce(
                run.interpretations::bigint,
                (
                    select count(*) from pgclarify_private.interpretation
                    where interpretation.run_id = run.run_id and interpretation.is_shown
                )
            )
    end as interpretations,
    coalesce(
        run.candidates::bigint,
        (
            select count(*) from pgclarify_private.candidate
            where candidate.run_id = run.run_id and candidate.copy_of is null
        )
    ) as candidates,
    coalesce(
        run.verdicts::bigint,
        (select count(distinct verdict.rank) from pgclarify_private.verdict where verdict.run_id = run.run_id)
    ) as verdicts,
    run.served,
    run.last_served_at,
    run.question_group_id + 0 as question_group_id,
    run.is_counted,
    run.crashes,
    run.stop_code,
    run.error_code || '' as error_code,
    run.cached_tokens,
    run.batched_completions,
    run.reuse_saved_usd,
    run.batch_saved_usd,
    run.cache_saved_usd,
    run.unanswered_calls,
    run.unanswered_usd,
    run.mends,
    case
        when pgclarify_private.finds_readings(run.operation)
            then (
                select count(*) from pgclarify_private.interpretation
                where interpretation.run_id = run.run_id and not interpretation.is_shown
            )
    end as less_sure
from pgclarify_private.run
-- Workers have not removed every corpus that was dropped. A query that does not read the column skips the join.
left join pgclarify_private.living_corpus as living on run.corpus_id = living.corpus_id;

comment on column pgclarify.run.less_sure is
'Number of readings that it has found and does not show; option include returns them. Null for operations without readings.';
comment on column pgclarify.run.history is 'Turns before the question, oldest first.';
comment on column pgclarify.run.settings is 'All parameters but the history, with defaults filled in.';
comment on column pgclarify.run.corpus is 'The corpus''s name when it was asked; null without a corpus.';
grant select on pgclarify.run to pgclarify_reader;

create or replace view pgclarify_private.seen_stage as
select
    stage.run_id,
    stage.ordinal,
    stage.name,
    stage.batch,
    stage.step_ordinal,
    stage.started_at,
    stage.duration_ms,
    stage.rows,
    stage.calls,
    stage.reused_calls,
    stage.prompt_tokens,
    stage.completion_tokens,
    stage.note || '' as note,
    stage.reused_prompt_tokens,
    stage.reused_completion_tokens,
    stage.model_ms,
    stage.mends
from pgclarify_private.stage;

grant select on pgclarify_private.seen_stage to pgclarify_reader;

create or replace view pgclarify.candidate as
select
    candidate.run_id,
    candidate.rank,
    candidate.corpus_id,
    candidate.document_id || '' as document_id,
    candidate.passage_id,
    candidate.heading || '' as heading,
    candidate.score,
    candidate.origin,
    candidate.via_passage_id,
    candidate.batch,
    candidate.step_ordinal,
    candidate.copy_of,
    candidate.copy_shift
from pgclarify_private.candidate;

grant select on pgclarify.candidate to pgclarify_reader;

create or replace view pgclarify.verdict as
select
    verdict.run_id,
    verdict.rank,
    verdict.outcome,
    verdict.interpretation || '' as interpretation,
    verdict.answer || '' as answer,
    verdict.quote || '' as quote,
    verdict.start_char,
    verdict.end_char,
    verdict.vector::text as vector,
    verdict.completion_id,
    verdict.is_reused,
    verdict.reason || '' as reason,
    verdict.error || '' as error,
    verdict.created_at,
    verdict.abstention_code,
    verdict.error_code,
    verdict.score,
    verdict.doubt_code,
    verdict.reading_ordinal
from pgclarify_private.verdict;

grant select on pgclarify.verdict to pgclarify_reader;
