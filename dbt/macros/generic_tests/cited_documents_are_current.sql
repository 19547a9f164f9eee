{% test cited_documents_are_current(model) %}
    {{ return(adapter.dispatch('test_cited_documents_are_current', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_cited_documents_are_current(model) %}
    {# The views leave out what this role may not see, so the citations are those of the table. #}
    select
        shown.run_id, shown.ordinal, shown.document_id, shown.quote,
        case
            when run.run_id is null then 'the run is deleted, or hidden from this role'
            when cited.document_updated_at is null then 'the document is deleted, or hidden from this role'
            else 'the quote stands in it no more'
        end as what
    from (
        select distinct model.run_id, quoted.ordinal, quoted.document_id, quoted.quote
        from (select * from {{ model }}) as model
        cross join jsonb_to_recordset(model.citations) as quoted (ordinal integer, document_id text, quote text)
    ) as shown
    left join pgclarify.run on run.run_id = shown.run_id
    -- Without the offset, PostgreSQL may look for the quotes of all runs.
    left join lateral (
        select citation.is_current, citation.document_updated_at
        from pgclarify.citation
        where
            citation.run_id = run.run_id and citation.is_medoid is not null and citation.ordinal = shown.ordinal
            and citation.document_id = shown.document_id and citation.quote = shown.quote
        offset 0
    ) as cited on true
    where cited.is_current is not true
{% endmacro %}
