{# Each run of a model of interpretations or detections: how it ended and what it cost. #}

{% macro runs(relation) %}
    {{ return(adapter.dispatch('runs', 'pgclarify')(relation)) }}
{% endmacro %}

{% macro default__runs(relation) %}
    {# With --empty, dbt gives a source an alias; so each source of these macros is in a subquery. #}
    select
        run.run_id, run.corpus, run.question, run.status, run.error, run.requested_by, run.model,
        run.corpus_revision, run.completions, run.reused_completions, run.prompt_tokens, run.completion_tokens,
        run.cost_usd, run.created_at, run.started_at, run.finished_at, run.stop_code, run.batched_completions,
        run.unanswered_calls, run.unanswered_usd
    from (select * from {{ source('pgclarify', 'run') }}) as run
    where run.run_id in (select model.run_id from (select * from {{ relation }}) as model)
{% endmacro %}
