-- Which searches are ambiguous, and why. This calls no language model.
{{ config(materialized='pgclarify_detections', id='search_id', question='query') }}
select search_id, query from {{ ref('search_log') }}
