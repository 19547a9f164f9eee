{{ config(corpus='rental', id='search_id', question='query', options=['method']) }}
select search_id, query from {{ ref('searches') }}
