{# The passages that were retrieved for the runs of a model. #}

{% macro candidates(relation) %}
    {{ return(adapter.dispatch('candidates', 'pgclarify')(relation)) }}
{% endmacro %}

{% macro default__candidates(relation) %}
    select
        candidate.run_id, candidate.rank, candidate.batch, candidate.document_id, candidate.passage_id,
        candidate.heading, candidate.score, candidate.origin, candidate.via_passage_id
    from (select * from {{ source('pgclarify', 'candidate') }}) as candidate
    where candidate.run_id in (select model.run_id from (select * from {{ relation }}) as model)
{% endmacro %}
