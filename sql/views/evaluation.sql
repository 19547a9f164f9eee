-- Evaluations, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.eval_run as
select
    eval_run.eval_run_id,
    eval_run.name || '' as name,
    eval_run.data_set || '' as data_set,
    encode(eval_run.data_set_hash, 'hex') as data_set_hash,
    eval_run.corpus_id,
    eval_run.corpus_name || '' as corpus_name,
    eval_run.corpus_revision,
    eval_run.method,
    eval_run.settings #> '{}' as settings,
    eval_run.provider || '' as provider,
    eval_run.model || '' as model,
    eval_run.prompt_version || '' as prompt_version,
    eval_run.embedding_model || '' as embedding_model,
    eval_run.judge || '' as judge,
    eval_run.judge_version || '' as judge_version,
    eval_run.version || '' as version,
    (eval_run.requested_by || '')::name as requested_by,
    eval_run.planned_cases,
    eval_run.created_at,
    eval_run.finished_at
from pgclarify_private.eval_run;

grant select on pgclarify.eval_run to pgclarify_reader;

create or replace view pgclarify.eval_case as
select
    eval_case.eval_run_id,
    eval_case.ordinal,
    eval_case.case_id || '' as case_id,
    eval_case.question || '' as question,
    eval_case.gold #> '{}' as gold,
    eval_case.output #> '{}' as output,
    eval_case.run_id,
    eval_case.status,
    eval_case.error || '' as error,
    eval_case.calls,
    eval_case.reused_calls,
    eval_case.prompt_tokens,
    eval_case.completion_tokens,
    eval_case.model_seconds,
    eval_case.seconds,
    eval_case.created_at
from pgclarify_private.eval_case;

grant select on pgclarify.eval_case to pgclarify_reader;

create or replace view pgclarify.eval_metric as
select
    eval_metric.eval_run_id,
    eval_metric.metric || '' as metric,
    eval_metric.ordinal,
    eval_metric.value,
    eval_metric.low,
    eval_metric.high,
    eval_metric.cases,
    eval_metric.stratum || '' as stratum
from pgclarify_private.eval_metric;

grant select on pgclarify.eval_metric to pgclarify_reader;
