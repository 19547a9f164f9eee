{{ config(
    materialized='pgclarify_interpretations', corpus='tenants', id='search_id', question='query', filter='part', top_k=4,
) }}
select search_id, query, jsonb_build_object('tenant', search_id) as part from {{ ref('searches') }}
