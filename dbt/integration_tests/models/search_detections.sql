{{ config(
    materialized='pgclarify_detections', id='search_id', question='query', batch_size=2,
    missing_ids=var('missing_ids', 'keep'),
    sql_header='create or replace function pg_temp.as_it_is(query text) returns text language sql return query;'
) }}
select search_id, pg_temp.as_it_is(query) as query from {{ ref('searches') }}
