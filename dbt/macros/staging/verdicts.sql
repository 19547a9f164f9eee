{# The verdict on each passage that was judged for the runs of a model. #}

{% macro verdicts(relation) %}
    {{ return(adapter.dispatch('verdicts', 'pgclarify')(relation)) }}
{% endmacro %}

{% macro default__verdicts(relation) %}
    select
        verdict.run_id, verdict.rank, candidate.document_id, candidate.passage_id, verdict.outcome,
        verdict.interpretation, verdict.answer, verdict.quote, verdict.start_char, verdict.end_char, verdict.reason,
        verdict.error, verdict.is_reused, verdict.created_at as decided_at
    from (select * from {{ source('pgclarify', 'verdict') }}) as verdict
    inner join (select * from {{ source('pgclarify', 'candidate') }}) as candidate
        on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
    where verdict.run_id in (select model.run_id from (select * from {{ relation }}) as model)
{% endmacro %}
