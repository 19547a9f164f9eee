{{ config(corpus='rental', id='search_id', question='query', top_k='20') }}
select search_id, query from {{ ref('searches') }}
