{{ config(
    materialized='pgclarify_interpretations', corpus='rental', id='search_id', question='query', top_k=4,
    include_unanswered=false, post_hook='select 1 / {{ var("divisor", 1) }}',
) }}
select search_id, query, pg_advisory_xact_lock_shared({{ var('gate', 0) }}) as gate from {{ ref('searches') }}
{% if pgclarify.is_incremental() %}
where search_id > (select coalesce(max(search_id), 0) from {{ this }})
{% endif %}
