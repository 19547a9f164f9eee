{{ config(corpus='rental', id='search_id', question='query', options={'no_such': 1}) }}
select search_id, query from {{ ref('searches') }}
