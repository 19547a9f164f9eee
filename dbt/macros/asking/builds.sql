{# Only one build of a model continues: if another one begins, the earlier one ends with an error. #}

{% macro end_build(text) %}
    {# This is no error of compiling, because the model itself is valid. #}
    {% do exceptions.raise_database_error(model.name ~ ": " ~ text) %}
{% endmacro %}

{% macro is_this_build_sql(questions) %}
    coalesce(
        strpos(
            obj_description(to_regclass({{ pgclarify.literal(questions) }}), 'pg_class'), {{ pgclarify.literal(invocation_id) }}
        ) > 0,
        false
    )
{% endmacro %}

{% macro end_if_overtaken(is_this_build) %}
    {% if not is_this_build %}
        {% do pgclarify.end_build(
            "another build of this model began, and goes on in place of this one. What was asked is not asked twice."
        ) %}
    {% endif %}
{% endmacro %}

{% macro hold_build(questions) %}
    {{ return(adapter.dispatch('hold_build', 'pgclarify')(questions)) }}
{% endmacro %}

{% macro default__hold_build(questions) %}
    {% call statement('pgclarify_hold', fetch_result=true) %}
        {{ pgclarify.lock_out_sql(questions) }};
        select {{ pgclarify.is_this_build_sql(questions) }} as is_this_build
    {% endcall %}
    {% do pgclarify.end_if_overtaken(load_result('pgclarify_hold').table.rows[0].is_this_build) %}
{% endmacro %}

{# A lock on the name, not on the table: the table may be missing, and another build drops it. #}
{% macro lock_out_sql(questions) %}
    select pg_advisory_xact_lock(hashtextextended({{ pgclarify.literal(questions) }}, 0))
{%- endmacro %}
