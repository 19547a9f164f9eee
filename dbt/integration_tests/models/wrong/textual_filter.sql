{{ config(corpus='rental', id='search_id', question='query', filter='tenant') }}
select search_id, query, query as tenant from {{ ref('searches') }}
