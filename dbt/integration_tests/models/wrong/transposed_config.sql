{{ config(corpus='rental', id='search_id', question='query', fliter='part') }}
select search_id, query, '{}'::jsonb as part from {{ ref('searches') }}
