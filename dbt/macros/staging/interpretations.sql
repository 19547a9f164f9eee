{# The readings of the runs of a model, each once, even if several ids have the same question. #}

{% macro interpretations(relation) %}
    {{ return(adapter.dispatch('interpretations', 'pgclarify')(relation)) }}
{% endmacro %}

{% macro default__interpretations(relation) %}
    select
        found.run_id, found.ordinal, run.question, found.interpretation, found.answer, found.support, found.cohesion
    from (select * from {{ source('pgclarify', 'interpretation') }}) as found
    inner join (select * from {{ source('pgclarify', 'run') }}) as run on run.run_id = found.run_id
    where found.run_id in (select model.run_id from (select * from {{ relation }}) as model)
{% endmacro %}
