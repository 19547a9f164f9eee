-- The readings of each search that the insurer's documents answer. A build asks new searches, and searches whose answers
-- a changed document may change.
{{ config(
    materialized='pgclarify_interpretations',
    corpus='insurance',
    id='search_id',
    question='query',
    top_k=10,
    indexes=[{'columns': ['search_id', 'ordinal'], 'unique': true}],
) }}
select search_id, query from {{ ref('search_log') }}
