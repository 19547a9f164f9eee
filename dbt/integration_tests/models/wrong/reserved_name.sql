{{ config(corpus='rental', id='status', question='query') }}
select query as status, query from {{ ref('searches') }}
