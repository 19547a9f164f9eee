{# The table beside a model of interpretations with the run of each question. #}

{% macro runs_of(relation) %}
    {% if relation.identifier is not defined %}
        {% do exceptions.raise_compiler_error(
            "This test looks at a whole model of interpretations: leave out config where, and put it on the model itself."
        ) %}
    {% endif %}
    {{ return(pgclarify.beside(relation, '__pgclarify_runs')) }}
{% endmacro %}
