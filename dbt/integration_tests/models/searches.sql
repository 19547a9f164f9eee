select search_id, query from {{ source('app', 'search_log') }}
