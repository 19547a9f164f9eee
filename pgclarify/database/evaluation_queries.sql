-- Statements of `pgclarify eval` and of reports, as the role that calls them.

-- name: eval_list_corpora
-- The corpora that the caller may search, and the one that the session names.
select
    corpus.corpus_id,
    status.corpus as name,
    status.revision,
    coalesce(status.embedding_model, '') as embedding_model,
    -- The passages of a distributed corpus are no partition.
    case when kept.relispartition then greatest(status.passages - status.linked, 0) end as unlinked,
    nullif(current_setting('pgclarify.corpus', true), '') as named
from pgclarify.corpus_status as status
inner join pgclarify.corpus on status.corpus = corpus.name
inner join pg_catalog.pg_namespace on pg_namespace.nspname = 'pgclarify_private'
inner join pg_catalog.pg_class as kept
    on pg_namespace.oid = kept.relnamespace and 'passage_' || corpus.corpus_id::text = kept.relname
order by status.corpus;

-- name: eval_count_missing_documents
-- How many of these ids belong to no document of the corpus that the caller may see.
select count(*) as missing
from unnest(%(document_ids)s::text[]) as named (document_id)
where
    not exists (
        select from pgclarify.document
        where document.corpus_id = %(corpus_id)s and document.id = named.document_id
    );

-- name: eval_list_serving_workers
-- Provider, model and prompt version of live workers that serve.
select distinct worker.provider, worker.model, worker.prompt_version
from pgclarify.worker_status as worker
where worker.is_alive
order by worker.provider, worker.model, worker.prompt_version;

-- name: eval_lock
-- Lock an evaluation that must be executed once; false if another session has the lock.
select pg_try_advisory_lock(hashtextextended(current_user || ' ' || %(kind)s, 0)) as is_locked;

-- name: eval_unlock
-- Release the lock, if this session has it.
select pg_advisory_unlock_all();

-- name: eval_list_unfinished
-- The caller's evaluations of these cases that were not finished, newest first.
select
    eval_run.eval_run_id, eval_run.name, eval_run.data_set, decode(eval_run.data_set_hash, 'hex') as data_set_hash,
    eval_run.corpus_id,
    eval_run.corpus_name, eval_run.corpus_revision, eval_run.embedding_model, eval_run.method, eval_run.settings,
    eval_run.provider, eval_run.model, eval_run.prompt_version, eval_run.judge, eval_run.judge_version,
    eval_run.version, eval_run.planned_cases
from pgclarify.eval_run
where
    eval_run.finished_at is null
    and eval_run.requested_by = current_user
    and eval_run.data_set_hash = encode(%(data_set_hash)s::bytea, 'hex')
order by eval_run.eval_run_id desc;

-- name: eval_list_finished
-- The caller's evaluations of these cases that were finished, newest first.
select
    eval_run.eval_run_id, eval_run.name, eval_run.data_set, decode(eval_run.data_set_hash, 'hex') as data_set_hash,
    eval_run.corpus_id,
    eval_run.corpus_name, eval_run.corpus_revision, eval_run.embedding_model, eval_run.method, eval_run.settings,
    eval_run.provider, eval_run.model, eval_run.prompt_version, eval_run.judge, eval_run.judge_version,
    eval_run.version, eval_run.planned_cases
from pgclarify.eval_run
where
    eval_run.finished_at is not null
    and eval_run.requested_by = current_user
    and eval_run.data_set_hash = encode(%(data_set_hash)s::bytea, 'hex')
order by eval_run.eval_run_id desc;

-- name: eval_count_done
-- How many cases of each evaluation have been judged.
select eval_run.eval_run_id, (
    select count(*) from pgclarify.eval_case where eval_case.eval_run_id = eval_run.eval_run_id
) as done
from pgclarify.eval_run
where eval_run.eval_run_id = any(%(eval_run_ids)s::bigint[]);

-- name: eval_get_coverage
-- Sum of answer_coverage over the judged cases, and the number of these cases.
select coalesce(sum(eval_metric.value), 0)::double precision as total, count(*) as cases
from pgclarify.eval_metric
where
    eval_metric.eval_run_id = %(eval_run_id)s
    and eval_metric.metric = 'answer_coverage'
    and eval_metric.ordinal is not null;

-- name: eval_resume
-- Continue an evaluation under its new name.
select pgclarify_private.resume_evaluation(caller, %(eval_run_id)s, %(name)s) as done
from pgclarify_private.caller as caller;

-- name: eval_begin
-- Begin an evaluation.
select pgclarify_private.begin_evaluation(caller, %(plan)s::jsonb) as eval_run_id
from pgclarify_private.caller as caller;

-- name: eval_record
-- Store cases with their metrics, unless they are stored already.
select pgclarify_private.record_eval_cases(caller, %(eval_run_id)s, %(cases)s::jsonb)
from pgclarify_private.caller as caller;

-- name: eval_list_values
-- The metrics of all cases.
select eval_case.ordinal, known.metrics, known.values
from pgclarify.eval_case
cross join lateral (
    select
        coalesce(array_agg(eval_metric.metric order by eval_metric.metric), '{}') as metrics,
        coalesce(array_agg(eval_metric.value order by eval_metric.metric), '{}') as values
    from pgclarify.eval_metric
    where eval_metric.eval_run_id = eval_case.eval_run_id and eval_metric.ordinal = eval_case.ordinal
) as known
where eval_case.eval_run_id = %(eval_run_id)s
order by eval_case.ordinal;

-- name: eval_finish
-- Finish an evaluation that has all its cases, and store the metrics of all together.
select pgclarify_private.finish_evaluation(caller, %(eval_run_id)s, %(metrics)s::jsonb) as is_finished
from pgclarify_private.caller as caller;

-- name: eval_find
-- The evaluation of that id, else of that name: the caller's own first, then finished ones, then the latest.
select
    eval_run.eval_run_id, eval_run.name, eval_run.data_set, decode(eval_run.data_set_hash, 'hex') as data_set_hash,
    eval_run.corpus_id,
    eval_run.corpus_name, eval_run.corpus_revision, eval_run.embedding_model, eval_run.method, eval_run.settings,
    eval_run.provider, eval_run.model, eval_run.prompt_version, eval_run.judge, eval_run.judge_version,
    eval_run.version, eval_run.planned_cases, eval_run.requested_by, eval_run.created_at, eval_run.finished_at,
    (
        select count(*) from pgclarify.eval_case where eval_case.eval_run_id = eval_run.eval_run_id
    ) as done_cases
from pgclarify.eval_run
where eval_run.eval_run_id = %(eval_run_id)s::bigint or eval_run.name = %(name)s
order by
    eval_run.eval_run_id is not distinct from %(eval_run_id)s::bigint desc,
    eval_run.requested_by = current_user desc,
    eval_run.finished_at is not null desc,
    eval_run.eval_run_id desc
limit 1;

-- name: eval_find_newer_unfinished
-- The latest unfinished evaluation of the same name and role that began after this one.
select max(newer.eval_run_id) as eval_run_id
from pgclarify.eval_run as found
inner join pgclarify.eval_run as newer
    on found.name = newer.name and found.requested_by = newer.requested_by and found.eval_run_id < newer.eval_run_id
where found.eval_run_id = %(eval_run_id)s and newer.finished_at is null;

-- name: eval_list
-- Evaluations, newest first.
select
    eval_run.eval_run_id, eval_run.name, eval_run.data_set, decode(eval_run.data_set_hash, 'hex') as data_set_hash,
    eval_run.corpus_id,
    eval_run.corpus_name, eval_run.corpus_revision, eval_run.embedding_model, eval_run.method, eval_run.settings,
    eval_run.provider, eval_run.model, eval_run.prompt_version, eval_run.judge, eval_run.judge_version,
    eval_run.version, eval_run.planned_cases, eval_run.requested_by, eval_run.created_at, eval_run.finished_at,
    (
        select count(*) from pgclarify.eval_case where eval_case.eval_run_id = eval_run.eval_run_id
    ) as done_cases
from pgclarify.eval_run
order by eval_run.eval_run_id desc
limit %(limit)s;

-- name: eval_list_summaries
-- The metrics of all cases together.
select eval_metric.eval_run_id, eval_metric.metric, eval_metric.value, eval_metric.low, eval_metric.high, eval_metric.cases
from pgclarify.eval_metric
where
    eval_metric.eval_run_id = any(%(eval_run_ids)s::bigint[])
    and eval_metric.ordinal is null
    and eval_metric.stratum is null
order by eval_metric.eval_run_id, eval_metric.metric;

-- name: eval_list_strata
-- The metrics of the cases of each stratum together.
select
    eval_metric.eval_run_id, eval_metric.stratum, eval_metric.metric, eval_metric.value, eval_metric.low, eval_metric.high,
    eval_metric.cases
from pgclarify.eval_metric
where
    eval_metric.eval_run_id = any(%(eval_run_ids)s::bigint[])
    and eval_metric.ordinal is null
    and eval_metric.stratum is not null
order by eval_metric.eval_run_id, eval_metric.stratum, eval_metric.metric;

-- name: eval_list_cases
-- The cases of an evaluation with their metrics: all or some, with or without the method's output.
select
    eval_case.ordinal, eval_case.case_id, eval_case.question, eval_case.gold,
    case when %(has_output)s then eval_case.output else '{}' end as output, eval_case.run_id, eval_case.status,
    eval_case.error, eval_case.calls, eval_case.reused_calls, eval_case.prompt_tokens, eval_case.completion_tokens,
    eval_case.model_seconds, eval_case.seconds, known.metrics, known.values
from pgclarify.eval_case
cross join lateral (
    select
        coalesce(array_agg(eval_metric.metric order by eval_metric.metric), '{}') as metrics,
        coalesce(array_agg(eval_metric.value order by eval_metric.metric), '{}') as values
    from pgclarify.eval_metric
    where eval_metric.eval_run_id = eval_case.eval_run_id and eval_metric.ordinal = eval_case.ordinal
) as known
where
    eval_case.eval_run_id = %(eval_run_id)s
    and (%(ordinals)s::integer[] is null or eval_case.ordinal = any(%(ordinals)s::integer[]))
order by eval_case.ordinal;

-- name: eval_list_answers_by_call
-- The known answers of each case, and the calls and tokens that its method had used for each answer.
select eval_case.gold, eval_case.output #> '{notes,answers_by_call}' as steps
from pgclarify.eval_case
where eval_case.eval_run_id = %(eval_run_id)s
order by eval_case.ordinal;

-- name: eval_list_usage
-- The model usage of runs, whether they paid for it or not.
select
    run.run_id,
    coalesce(sum(stage.calls + stage.reused_calls), 0)::bigint as calls,
    coalesce(sum(stage.reused_calls), 0)::bigint as reused_calls,
    coalesce(sum(stage.prompt_tokens + stage.reused_prompt_tokens), 0)::bigint as prompt_tokens,
    coalesce(sum(stage.completion_tokens + stage.reused_completion_tokens), 0)::bigint as completion_tokens,
    coalesce(sum(stage.model_ms), 0) / 1000 as model_seconds
from pgclarify.run
left join pgclarify.stage on run.run_id = stage.run_id
where run.run_id = any(%(run_ids)s::bigint[])
group by run.run_id;

-- name: eval_list_verdicts
-- The verdict on each candidate of a run, with its tokens.
select
    verdict.rank, verdict.outcome, verdict.answer, verdict.quote, coalesce(paid.prompt_tokens, 0) as prompt_tokens,
    coalesce(paid.completion_tokens, 0) as completion_tokens
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.verdict_tokens(caller, %(run_id)s) as paid
inner join pgclarify.verdict on verdict.run_id = %(run_id)s and paid.rank = verdict.rank
order by verdict.rank;

-- name: eval_list_candidates
-- The passages that a run retrieved, by their keys, with the step of an investigation.
select candidate.corpus_id, candidate.document_id, candidate.passage_id, candidate.step_ordinal
from pgclarify.candidate
where candidate.run_id = %(run_id)s
order by candidate.rank;

-- name: eval_read_passages
-- Current passages of a corpus that the caller may read.
select
    passage.document_id, passage.passage_id, passage.content, document.title, passage.heading, passage.start_char
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.readable_passages(
    caller, %(corpus_id)s, %(document_ids)s::text[], %(passage_ids)s::bigint[]
) as passage
inner join pgclarify.document
    on document.corpus_id = %(corpus_id)s and passage.document_id = document.id;

-- name: eval_list_token_averages
-- The average tokens of calls so far, by purpose.
select averages.purpose, averages.prompt_tokens, averages.completion_tokens, averages.calls
from pgclarify_private.caller as caller
cross join lateral pgclarify_private.token_averages(caller, %(model)s) as averages;

-- name: eval_count_paid_verdicts
-- The number of replies in the ledger for these questions with this search, from runs that the caller may see.
select
    run.question,
    -- Of several runs of one question, the one with the most replies includes those of the others.
    least(max(run.completions + run.reused_completions), %(top_k)s + 1) as replies
from pgclarify.run
where
    run.operation = 'clarify'
    and run.corpus_id = %(corpus_id)s
    and run.model = %(model)s
    and run.prompt_version = %(prompt_version)s
    and run.question = any(%(questions)s::text[])
    and run.completions is not null
    and run.corpus_revision = %(corpus_revision)s
    and run.settings ->> 'search' is not distinct from %(search)s
    and run.settings ->> 'reranker' is not distinct from %(reranker)s::text
    and run.settings ->> 'retrieval' is not distinct from %(retrieval)s
group by run.question;
