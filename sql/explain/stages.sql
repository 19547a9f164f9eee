-- The stages of a run: of the tree of explain, and of its page.

create or replace function pgclarify_private.run_stages(run_id bigint)
returns table (
    ordinal integer,
    name text,
    batch integer,
    step_ordinal integer,
    start_ms double precision,
    duration_ms real,
    rows integer,
    calls integer,
    reused_calls integer,
    prompt_tokens bigint,
    completion_tokens bigint,
    reused_prompt_tokens bigint,
    reused_completion_tokens bigint,
    model_ms double precision,
    note text
)
language sql stable
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select
        stage.ordinal, stage.name, stage.batch, stage.step_ordinal,
        -- Only by the worker's clock, because the server's may differ.
        (1000 * extract(epoch from stage.started_at - min(stage.started_at) over ()))::double precision,
        stage.duration_ms, stage.rows, stage.calls, stage.reused_calls, stage.prompt_tokens, stage.completion_tokens,
        stage.reused_prompt_tokens, stage.reused_completion_tokens, stage.model_ms, stage.note
    from pgclarify_private.stage
    where stage.run_id = run_stages.run_id
    order by stage.ordinal;
end;

comment on function pgclarify_private.run_stages(bigint) is
'The stages of a run, in order; start_ms counts from its first. It does not check who may see the run.';

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
        stage.name, stage.step_ordinal, count(*), count(stage.batch), min(stage.start_ms),
        max(stage.start_ms + stage.duration_ms),
        -- Batches may overlap.
        least(sum(stage.duration_ms), max(stage.start_ms + stage.duration_ms) - min(stage.start_ms)),
        sum(stage.rows)::bigint, sum(stage.calls)::bigint, sum(stage.reused_calls)::bigint,
        sum(stage.prompt_tokens)::bigint, sum(stage.completion_tokens)::bigint,
        case when count(*) = 1 then min(stage.note) end,
        array[coalesce(stage.step_ordinal, 0), min(stage.ordinal)],
        1 + 3 * (stage.step_ordinal is not null)::integer
    from pgclarify_private.run_stages(placed_stages.run_id) as stage
    group by stage.name, stage.step_ordinal;
end;

comment on function pgclarify_private.placed_stages(bigint) is
'The stages of a run in the tree; the batches of a stage are added up. place: of its line. '
'depth: its level; lines below a node are three deeper.';

create or replace function pgclarify_private.time_outside_of_stages(run_id bigint, total_ms double precision)
returns double precision
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    -- The clock of the worker and that of the server may go at different speeds.
    select case when outside.ms < 0 then 0 else outside.ms end
    from (
        select time_outside_of_stages.total_ms - sum(upper(span.busy) - lower(span.busy))::double precision as ms
        from (
            -- Stages may overlap.
            select unnest(range_agg(numrange(stage.start_ms::numeric, (stage.start_ms + stage.duration_ms)::numeric))) as busy
            from pgclarify_private.run_stages(time_outside_of_stages.run_id) as stage
        ) as span
    ) as outside;
end;

comment on function pgclarify_private.time_outside_of_stages(bigint, double precision) is
'Milliseconds of total_ms in which no stage of a run went on; null if it has no stages, or total_ms is null.';
