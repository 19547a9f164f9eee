{{ config(corpis='rental', id='search_id', question='query') }}
select search_id, query from {{ ref('searches') }}
