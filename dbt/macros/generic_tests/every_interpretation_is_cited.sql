{% test every_interpretation_is_cited(model) %}
    {{ return(adapter.dispatch('test_every_interpretation_is_cited', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_every_interpretation_is_cited(model) %}
    select distinct shown.run_id, shown.ordinal, shown.interpretation
    from (select * from {{ model }}) as shown
    where
        shown.ordinal is not null
        and (
            coalesce(cardinality(shown.document_ids), 0) = 0
            or not exists (
                select
                from pgclarify.citation as cited
                where
                    cited.run_id = shown.run_id
                    -- Of interpretations only.
                    and cited.is_medoid is not null
                    and cited.ordinal = shown.ordinal
                    and cited.document_id = any(shown.document_ids)
            )
        )
{% endmacro %}
