{# What the answers in each model of a list have cost: a row for each. #}

{% macro costs(relations) %}
    {{ return(adapter.dispatch('costs', 'pgclarify')(relations)) }}
{% endmacro %}

{% macro default__costs(relations) %}
    {% for relation in relations %}
    select
        {{ dbt.string_literal(relation.identifier) }} as model,
        count(*) as runs,
        coalesce(sum(run.completions), 0) as completions,
        coalesce(sum(run.reused_completions), 0) as reused_completions,
        coalesce(sum(run.batched_completions), 0) as batched_completions,
        coalesce(sum(run.prompt_tokens), 0) as prompt_tokens,
        coalesce(sum(run.completion_tokens), 0) as completion_tokens,
        sum(run.cost_usd) as cost_usd,
        coalesce(sum(run.unanswered_calls), 0) as unanswered_calls,
        sum(run.unanswered_usd) as unanswered_usd,
        count(*) filter (where run.cost_usd is null) as unpriced_runs
    from ({{ pgclarify.runs(relation) }}) as run
    {% if not loop.last %}union all{% endif %}
    {% endfor %}
{% endmacro %}
