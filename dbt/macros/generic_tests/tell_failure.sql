{# dbt reports only the number of rows of a test. If a test has one row, its content matters. #}

{% macro tell_failure(sql) %}
    {% if execute and flags.WHICH in ('build', 'test') %}
        {% for row in run_query(sql).rows %}
            {% do log(model.name ~ ": " ~ row.what, info=true) %}
        {% endfor %}
    {% endif %}
{% endmacro %}
