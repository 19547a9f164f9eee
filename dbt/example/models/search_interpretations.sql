-- What each search can mean, as far as the insurer's documents answer it. Only new searches are asked, and those whose
-- answers a changed document has changed.
{{ config(
    materialized='pgclarify_interpretations',
    corpus='insurance',
    id='search_id',
    question='query',
    top_k=10,
    indexes=[{'columns': ['search_id', 'ordinal'], 'unique': true}],
) }}
select search_id, query from {{ ref('search_log') }}
