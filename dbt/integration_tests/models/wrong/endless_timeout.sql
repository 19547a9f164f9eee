{{ config(corpus='rental', id='search_id', question='query', timeout='soon') }}
select search_id, query from {{ ref('searches') }}
