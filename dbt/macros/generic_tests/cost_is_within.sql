{% test cost_is_within(model, budget_usd, allow_unpriced=false) %}
    {{ return(adapter.dispatch('test_cost_is_within', 'pgclarify')(model, budget_usd, allow_unpriced)) }}
{% endtest %}

{% macro default__test_cost_is_within(model, budget_usd, allow_unpriced) %}
    {% if budget_usd is not number or budget_usd < 0 or allow_unpriced is not boolean %}
        {% do exceptions.raise_compiler_error(
            "cost_is_within: write a number of US dollars from 0, such as budget_usd: 5, and allow_unpriced: true or false."
        ) %}
    {% endif %}
    {% set sql %}
    select
        spent.*,
        format(
            'it has cost %s US dollars, and budget_usd is %s; runs without a price: %s, deleted or hidden from this role: %s',
            spent.cost_usd, {{ budget_usd }}, spent.unpriced_runs, spent.unseen_runs
        ) as what
    from (
        select
            {# Calls that were sent and never answered may be charged. #}
            coalesce(sum(run.cost_usd), 0) + coalesce(sum(run.unanswered_usd), 0) as cost_usd,
            count(*) filter (where run.run_id is not null and run.cost_usd is null) as unpriced_runs,
            count(*) filter (where run.run_id is null) as unseen_runs
        from (select distinct model.run_id from (select * from {{ model }}) as model) as shown
        left join pgclarify.run on run.run_id = shown.run_id
    ) as spent
    where
        spent.cost_usd > {{ budget_usd }}
        or spent.unseen_runs > 0
        {{ '' if allow_unpriced else 'or spent.unpriced_runs > 0' }}
    {% endset %}
    {% do pgclarify.tell_failure(sql) %}
    {{ sql }}
{% endmacro %}
