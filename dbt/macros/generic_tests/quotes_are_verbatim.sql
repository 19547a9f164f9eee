{% test quotes_are_verbatim(model) %}
    {{ return(adapter.dispatch('test_quotes_are_verbatim', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_quotes_are_verbatim(model) %}
    {# Documents that were changed or removed since are not checked: cited_documents_are_current finds those. #}
    select cited.run_id, cited.ordinal, cited.document_id, cited.quote
    from (
        select distinct
            shown.run_id, quoted.ordinal, quoted.document_id, quoted.quote, quoted.start_char, quoted.end_char
        from (select * from {{ model }}) as shown
        cross join jsonb_to_recordset(shown.citations) as quoted (
            ordinal integer, document_id text, quote text, start_char integer, end_char integer
        )
    ) as cited
    left join pgclarify.run on run.run_id = cited.run_id
    left join pgclarify.document
        on document.corpus_id = run.corpus_id
        and document.id = cited.document_id
        and document.updated_at <= run.started_at
    where
        run.run_id is null
        or document.id is not null
        and substr(document.content, cited.start_char + 1, cited.end_char - cited.start_char) is distinct from cited.quote
{% endmacro %}
