{{ config(corpus='rental', id='search_id', question='query') }}
select null::bigint as search_id, query from {{ ref('searches') }}
