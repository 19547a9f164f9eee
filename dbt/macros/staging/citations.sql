{# The citations of the readings of the runs of a model, with their current places in the documents. #}

{% macro citations(relation) %}
    {{ return(adapter.dispatch('citations', 'pgclarify')(relation)) }}
{% endmacro %}

{% macro default__citations(relation) %}
    select
        cited.run_id, cited.ordinal, cited.interpretation, cited.answer, cited.rank, cited.is_medoid, cited.document_id,
        cited.title, cited.uri, cited.passage_id, cited.heading, cited.quote, cited.start_char, cited.end_char,
        cited.is_current, cited.dated, cited.place
    from (select * from {{ source('pgclarify', 'citation') }}) as cited
    where
        cited.run_id in (select model.run_id from (select * from {{ relation }}) as model)
        -- Of interpretations only.
        and cited.is_medoid is not null
{% endmacro %}
