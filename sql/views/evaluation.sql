-- Evaluations, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.evaluation as
select
    eval_run.eval_run_id,
    eval_run.name || '' as name,
    eval_run.data_set || '' as data_set,
    living.corpus_id,
    eval_run.corpus_name || '' as corpus,
    eval_run.method || '' as method,
    eval_run.settings #> '{}' as settings,
    (eval_run.conditions ->> 'model') || '' as model,
    (eval_run.conditions ->> 'judge') || '' as judge,
    figure.key || '' as figure,
    (figure.value ->> 'value')::double precision as value,
    (figure.value ->> 'low')::double precision as low,
    (figure.value ->> 'high')::double precision as high,
    (figure.value ->> 'cases')::integer as cases,
    (eval_run.requested_by || '')::name as requested_by,
    eval_run.created_at,
    eval_run.finished_at
from pgclarify_private.eval_run
-- As in view run.
left join pgclarify_private.living_corpus as living on eval_run.corpus_id = living.corpus_id
left join lateral jsonb_each(eval_run.figures) as figure on true;

grant select on pgclarify.evaluation to pgclarify_reader;

comment on view pgclarify.evaluation is
'One row for each figure of each evaluation; an evaluation that is not finished has one row without a figure.';
comment on column pgclarify.evaluation.eval_run_id is 'The evaluation.';
comment on column pgclarify.evaluation.corpus is 'The corpus''s name when the evaluation began.';
comment on column pgclarify.evaluation.model is 'The model that judged passages or answered.';
comment on column pgclarify.evaluation.judge is
'The judge of the method''s output: lexical, or a model.';
comment on column pgclarify.evaluation.figure is 'Name of the figure, such as coverage; null if it is not finished.';
comment on column pgclarify.evaluation.value is 'Its value over all cases that have it.';
comment on column pgclarify.evaluation.low is 'Lower end of its 95 % interval; null without one.';
comment on column pgclarify.evaluation.high is 'Upper end of its 95 % interval; null without one.';
comment on column pgclarify.evaluation.cases is 'How many cases have it.';
comment on column pgclarify.evaluation.finished_at is
'When its last case was judged; null while it is running, or if it was interrupted.';
