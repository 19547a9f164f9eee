{{ config(
    materialized='pgclarify_interpretations', corpus=var('corpus', 'rental'), id='search_id', question='query', top_k=4,
    pre_hook=var('pre_hook', 'select 1'),
) }}
select search_id, query from {{ ref('searches') }}
