{% test answered_share_is_at_least(model, share) %}
    {{ return(adapter.dispatch('test_answered_share_is_at_least', 'pgclarify')(model, share)) }}
{% endtest %}

{% macro default__test_answered_share_is_at_least(model, share) %}
    {% if share is not number or share < 0 or share > 1 %}
        {% do exceptions.raise_compiler_error(
            "answered_share_is_at_least: write a number from 0 to 1, such as share: 0.9."
        ) %}
    {% endif %}
    {# The table itself may have no rows for questions without an answer. #}
    {% set sql %}
    select
        counted.*,
        format(
            '%s of the distinct questions, %s of %s, have an answer, and share is %s; deleted or hidden runs: %s',
            round(counted.answered::numeric / greatest(counted.questions, 1), 3), counted.answered, counted.questions,
            {{ share }}, counted.unseen_runs
        ) as what
    from (
        select
            count(*) as questions,
            count(*) filter (
                where exists (select from pgclarify.interpretation as found where found.run_id = kept.built_run_id)
            ) as answered,
            count(*) filter (where run.run_id is null) as unseen_runs
        from {{ pgclarify.runs_of(model) }} as kept
        left join pgclarify.run on run.run_id = kept.built_run_id
        where kept.built_run_id is not null
    ) as counted
    where counted.answered < {{ share }} * counted.questions or counted.unseen_runs > 0
    {% endset %}
    {% do pgclarify.tell_failure(sql) %}
    {{ sql }}
{% endmacro %}
