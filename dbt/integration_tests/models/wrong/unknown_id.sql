{{ config(corpus='rental', id='no_such_column', question='query') }}
select search_id, query from {{ ref('searches') }}
