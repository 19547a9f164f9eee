{{ config(corpus='rental', id='search_id', question='query', missing_ids='delete') }}
select search_id, query from {{ ref('searches') }} {{ 'where search_id > 1' if pgclarify.is_incremental() }}
