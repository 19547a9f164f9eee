-- Which searches are ambiguous, and why. No language model has a part in it.
{{ config(materialized='pgclarify_detections', id='search_id', question='query') }}
select search_id, query from {{ ref('search_log') }}
