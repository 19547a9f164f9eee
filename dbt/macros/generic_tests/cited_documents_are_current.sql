{% test cited_documents_are_current(model) %}
    {{ return(adapter.dispatch('test_cited_documents_are_current', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_cited_documents_are_current(model) %}
    select
        shown.run_id, cited.ordinal, cited.document_id, cited.quote,
        case
            when run.run_id is null then 'the run is deleted, or hidden from this role'
            when cited.document_updated_at is null then 'the document is deleted, or hidden from this role'
            else 'the quote stands in it no more'
        end as what
    from (select distinct model.run_id from (select * from {{ model }}) as model) as shown
    left join pgclarify.run on run.run_id = shown.run_id
    -- Without the offset, PostgreSQL may look for the quotes of all runs.
    left join lateral (
        select citation.ordinal, citation.document_id, citation.quote, citation.is_current, citation.document_updated_at
        from pgclarify.citation
        where citation.run_id = run.run_id and citation.is_medoid is not null
        offset 0
    ) as cited on true
    where run.run_id is null or not cited.is_current
{% endmacro %}
