-- explain: the stages of a run, and the place of each in the tree.

create or replace function pgclarify_private.placed_stages(run_id bigint)
returns table (
    name text,
    step_ordinal integer,
    times bigint,
    batches bigint,
    start_ms double precision,
    end_ms double precision,
    busy_ms double precision,
    rows bigint,
    calls bigint,
    reused_calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    note text,
    place integer[],
    depth integer
)
language sql stable
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select
        known.name, known.step_ordinal, count(*), count(known.batch), min(known.start_ms),
        max(known.start_ms + known.duration_ms),
        -- Batches may overlap.
        least(sum(known.duration_ms), max(known.start_ms + known.duration_ms) - min(known.start_ms)),
        sum(known.rows)::bigint, sum(known.calls)::bigint, sum(known.reused_calls)::bigint,
        sum(known.prompt_tokens)::bigint, sum(known.completion_tokens)::bigint,
        case when count(*) = 1 then min(known.note) end,
        array[coalesce(known.step_ordinal, 0), min(known.ordinal)],
        1 + 3 * (known.step_ordinal is not null)::integer
    from (
        select
            stage.*,
            -- Only by the worker's clock, because the server's may differ.
            (1000 * extract(epoch from stage.started_at - min(stage.started_at) over ()))::double precision as start_ms
        from pgclarify_private.stage
        where stage.run_id = placed_stages.run_id
    ) as known
    group by known.name, known.step_ordinal;
end;

comment on function pgclarify_private.placed_stages(bigint) is
'The stages of a run in the tree, in milliseconds since its first; the batches of a stage are added up. place: of its line. '
'depth: its level; lines below a node are three deeper.';
