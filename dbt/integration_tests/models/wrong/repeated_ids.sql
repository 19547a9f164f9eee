{{ config(corpus='rental', id='search_id', question='query') }}
select 7 as search_id, query from {{ ref('searches') }}
