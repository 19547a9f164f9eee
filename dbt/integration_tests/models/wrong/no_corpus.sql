{{ config(id='search_id', question='query', unique_key='search_id') }}
select search_id, query from {{ ref('searches') }}
