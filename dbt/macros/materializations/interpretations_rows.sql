{# The rows of a model of interpretations, from the tables of pgclarify. #}

{% macro interpretation_columns(id, question, filter=none) %}
    {% set given = [id, question] if filter is none else [id, question, filter] %}
    {{ return(given + ['run_id', 'status'] + pgclarify.reading_columns() + ['answered_at']) }}
{% endmacro %}

{% macro interpretation_rows(runs, questions, id, question, include_unanswered, only_changed, filter=none) %}
    {{ return(adapter.dispatch('interpretation_rows', 'pgclarify')(
        runs, questions, id, question, include_unanswered, only_changed, filter
    )) }}
{% endmacro %}

{% macro default__interpretation_rows(runs, questions, id, question, include_unanswered, only_changed, filter) %}
    with reading as materialized (
        select
            found.run_id,
            {%- for column in pgclarify.interpretation_view_columns() %}
            found.{{ column }},
            {%- endfor %}
            cited.document_ids, cited.citations
        from pgclarify.interpretation as found
        cross join lateral (
            select
                array_agg(citation.document_id order by citation.rank) filter (where citation.is_first) as document_ids,
                -- The fields that clarify returns, even if the view gets more columns.
                jsonb_agg(to_jsonb(citation) - 'is_first' order by citation.rank) as citations
            from (
                select
                    proof.run_id, proof.ordinal, proof.interpretation, proof.answer, proof.rank, proof.is_medoid,
                    proof.document_id, proof.title, proof.uri, proof.passage_id, proof.heading, proof.quote,
                    proof.start_char, proof.end_char, proof.is_current, proof.dated, proof.place,
                    row_number() over (partition by proof.document_id order by proof.rank) = 1 as is_first
                from pgclarify.citation as proof
                where proof.run_id = found.run_id and proof.ordinal = found.ordinal
            ) as citation
        ) as cited
        where found.run_id in (
            select kept.built_run_id from {{ runs }} as kept
            {%- if only_changed %}
            inner join {{ questions }} as asked on asked.question_key = kept.question_key and asked.is_changed
            {%- endif %}
        )
    )
    select
        asked.id as {{ pgclarify.identifier(id) }},
        asked.question as {{ pgclarify.identifier(question) }},
        {%- if filter is not none %}
        asked.filter as {{ pgclarify.identifier(filter) }},
        {%- endif %}
        run.run_id,
        kept.built_status as status,
        {%- for column in pgclarify.reading_columns() %}
        reading.{{ column }},
        {%- endfor %}
        run.finished_at as answered_at
    from {{ questions }} as asked
    inner join {{ runs }} as kept on kept.question_key = asked.question_key
    inner join pgclarify.run on run.run_id = kept.built_run_id
    {{ 'left' if include_unanswered else 'inner' }} join reading
        on reading.run_id = run.run_id and run.status in ('succeeded', 'partial')
    {%- if only_changed %}
    where asked.is_changed
    {%- endif %}
{% endmacro %}
