{% test interpretations_are_unchanged(model) %}
    {{ return(adapter.dispatch('test_interpretations_are_unchanged', 'pgclarify')(model)) }}
{% endtest %}

{% macro default__test_interpretations_are_unchanged(model) %}
    select kept.question, kept.previous_run_id, kept.built_run_id
    from {{ pgclarify.runs_of(model) }} as kept
    left join pgclarify.run as built on built.run_id = kept.built_run_id
    left join pgclarify.run as previous on previous.run_id = kept.previous_run_id
    where
        kept.built_run_id <> kept.previous_run_id
        -- Runs that were deleted, or that this role may not see, cannot be compared.
        and (built.run_id is null or previous.run_id is null or (
            select array_agg((found.interpretation, found.answer)::text order by found.interpretation, found.answer)
            from pgclarify.interpretation as found
            where found.run_id = kept.built_run_id
        ) is distinct from (
            select array_agg((found.interpretation, found.answer)::text order by found.interpretation, found.answer)
            from pgclarify.interpretation as found
            where found.run_id = kept.previous_run_id
        ))
{% endmacro %}
