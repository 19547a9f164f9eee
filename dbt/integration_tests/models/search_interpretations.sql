{{ config(
    materialized='pgclarify_interpretations',
    corpus='rental',
    id='search_id',
    question='query',
    top_k=4,
    batch_size=var('batch_size', 500),
    timeout=var('timeout', none),
    refresh_completions=var('refresh_completions', false),
    missing_ids=var('missing_ids', 'keep'),
    on_failed=var('on_failed', 'error'),
    max_staleness=var('max_staleness', none),
    indexes=[{'columns': ['search_id', 'ordinal'], 'unique': true}],
    grants={'select': ['pgclarify_reader']},
    persist_docs={'relation': true, 'columns': true},
    pre_hook="create table if not exists {{ target.schema }}.hooked (rows_seen bigint)",
    post_hook=[
        "insert into {{ target.schema }}.hooked select count(*) from {{ this }}",
        {'sql': "vacuum {{ this }}", 'transaction': false},
    ],
) }}
select search_id, query from {{ ref('searches') }}
