{{ config(corpus='rental', id='search_id', question='query', on_failed='ignore') }}
select search_id, query from {{ ref('searches') }}
