{# dbt says how many rows a test has found, and of a test with one row the figure matters. #}

{% macro tell_failure(sql) %}
    {% if execute and flags.WHICH in ('build', 'test') %}
        {% for row in run_query(sql).rows %}
            {% do log(model.name ~ ": " ~ row.what, info=true) %}
        {% endfor %}
    {% endif %}
{% endmacro %}
