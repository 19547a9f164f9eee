{{ config(corpus='rental', id='search_id', question='query') }}
select search_id::numeric(10, 3) as search_id, query from {{ ref('searches') }}
