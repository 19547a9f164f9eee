{% test cited_documents_are_current(model) %}
    {{ return(adapter.dispatch('test_cited_documents_are_current', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_cited_documents_are_current(model) %}
    select
        shown.run_id, cited.ordinal, cited.document_id, cited.quote,
        case
            when run.run_id is null then 'the run is deleted, or hidden from this role'
            when document.id is null then 'the document is deleted, or hidden from this role'
            else 'the quote stands in it no more'
        end as what
    from (select distinct model.run_id from (select * from {{ model }}) as model) as shown
    left join pgclarify.run on run.run_id = shown.run_id
    left join pgclarify.citation as cited on cited.run_id = run.run_id and cited.is_medoid is not null
    left join pgclarify.document on document.corpus_id = run.corpus_id and document.id = cited.document_id
    where
        run.run_id is null
        or cited.run_id is not null and (document.id is null or not cited.is_current)
{% endmacro %}
