{# The results of a build's runs. #}

{% macro report_outcomes(runs, began_at, on_failed) %}
    {{ return(adapter.dispatch('report_outcomes', 'pgclarify')(runs, began_at, on_failed)) }}
{% endmacro %}

{% macro default__report_outcomes(runs, began_at, on_failed) %}
    {% set found = pgclarify.fetch_and_commit(pgclarify.outcomes_sql(runs, began_at)) %}
    {% do log(
        model.name ~ ": " ~ found.answered ~ " of " ~ pgclarify.counted(found.questions, "question") ~ " with an answer; "
        ~ found.partial ~ " partial, " ~ found.failed ~ " failed"
        ~ ("; model calls: " ~ found.calls | int if found.has_model else ""), info=true
    ) %}
    {% if found.unread | int %}
        {% do log(
            model.name ~ ": no answer to " ~ pgclarify.counted(found.unread, "question") ~ ", but the documents may have one;"
            ~ " most frequent stop_code: " ~ found.stop_code, info=true
        ) %}
    {% endif %}
    {% if found.partial | int %}
        {# The results so far are valid, so this is a warning and no error. #}
        {% do pgclarify.complain(
            pgclarify.counted(found.partial, "question") ~ " partial"
            ~ (", one of them since: " if found.partial | int > 1 else ": ") ~ found.shortage
            ~ ("; " ~ found.earlier_of_partial ~ " of these keep their earlier answer" if found.earlier_of_partial | int else ""),
            'warn'
        ) %}
    {% endif %}
    {% if found.failed | int %}
        {% do pgclarify.complain(
            found.failed ~ " of " ~ pgclarify.counted(found.questions, "question") ~ " failed, and " ~ found.earlier_of_failed
            ~ " of these keep their earlier answer; one failed with: " ~ found.error, on_failed
        ) %}
    {% endif %}
{% endmacro %}

{% macro complain(what, on_failed) %}
    {% set text = what ~ ". The table is built, and the next build asks them again." %}
    {% if on_failed == 'error' %}
        {% do pgclarify.end_build(text ~ " To go on all the same, write on_failed='warn'.") %}
    {% endif %}
    {% do exceptions.warn(model.name ~ ": " ~ text) %}
{% endmacro %}

{% macro outcomes_sql(runs, began_at) %}
    select
        count(*) as questions,
        coalesce(
            sum(run.completions) filter (where run.created_at >= {{ pgclarify.literal(began_at) }}::timestamptz), 0
        ) as calls,
        -- The extractive provider counts judgements, which cost nothing.
        coalesce(bool_or(run.model !~ '^extractive-[0-9]+$'), false) as has_model,
        count(*) filter (
            where exists (select from pgclarify.interpretation as found where found.run_id = kept.built_run_id)
        ) as answered,
        count(*) filter (where run.status = 'partial') as partial,
        count(*) filter (where run.status = 'succeeded' and run.stop_code <> 'not_answered') as unread,
        mode() within group (order by run.stop_code) filter (
            where run.status = 'succeeded' and run.stop_code <> 'not_answered'
        ) as stop_code,
        mode() within group (
            order by case
                when run.stop_code = 'budget' then run.stop_reason
                else 'some passages could not be judged'
            end
        ) filter (where run.status = 'partial') as shortage,
        count(*) filter (where run.status in ('failed', 'cancelled')) as failed,
        count(*) filter (where kept.built_status = 'earlier' and run.status = 'partial') as earlier_of_partial,
        count(*) filter (where kept.built_status = 'earlier' and run.status <> 'partial') as earlier_of_failed,
        min(coalesce(run.error, 'it was cancelled')) filter (where run.status in ('failed', 'cancelled')) as error
    from {{ runs }} as kept
    left join pgclarify.run on kept.run_id = run.run_id
{% endmacro %}
