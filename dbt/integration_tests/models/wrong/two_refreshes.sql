{{ config(corpus='rental', id='search_id', question='query', options={'refresh': 1}, refresh_completions=true) }}
select search_id, query from {{ ref('searches') }}
