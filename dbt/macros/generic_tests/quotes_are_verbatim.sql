{% test quotes_are_verbatim(model) %}
    {{ return(adapter.dispatch('test_quotes_are_verbatim', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_quotes_are_verbatim(model) %}
    {# Documents that were changed or removed since are not checked: cited_documents_are_current finds those. #}
    with cited as materialized (
        select distinct
            shown.run_id, quoted.ordinal, quoted.document_id, quoted.quote, quoted.start_char, quoted.end_char,
            run.corpus_id, run.started_at, run.run_id is null as is_hidden
        from (select * from {{ model }}) as shown
        cross join jsonb_to_recordset(shown.citations) as quoted (
            ordinal integer, document_id text, quote text, start_char integer, end_char integer
        )
        left join pgclarify.run on run.run_id = shown.run_id
    )
    select cited.run_id, cited.ordinal, cited.document_id, cited.quote
    from cited
    -- PostgreSQL has no statistics about ids in views. Without this list, which it takes for a short one, it sorts all documents.
    left join (select distinct cited.corpus_id, cited.document_id from cited where not cited.is_hidden) as wanted
        on wanted.corpus_id = cited.corpus_id and wanted.document_id = cited.document_id
    left join pgclarify.document on document.corpus_id = wanted.corpus_id and document.id = wanted.document_id
    where
        cited.is_hidden
        or document.updated_at <= cited.started_at
        and substr(document.content, cited.start_char + 1, cited.end_char - cited.start_char) is distinct from cited.quote
{% endmacro %}
