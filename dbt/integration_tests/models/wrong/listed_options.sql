{{ config(corpus='rental', id='search_id', question='query', options=['search']) }}
select search_id, query from {{ ref('searches') }}
