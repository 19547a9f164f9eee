-- explain: why a run stopped and what it cost; and all of its lines together. Only this file formats them.

create or replace function pgclarify_private.explain_end(run pgclarify_private.run)
returns table (depth integer, label text, body text, figures text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
begin
    if v_run.stop_reason is not null then
        return query select 1, 'Stopped', pgclarify_private.shown(v_run.stop_reason, 200), null::text[];
    end if;
    return query
    select 1, 'Stop code', format('%s, %s. %s', known.stop_code, known.meaning, known.help), null::text[]
    from pgclarify_private.stop_codes() as known
    where known.stop_code = v_run.stop_code;
    return query
    select
        1, 'Total',
        concat_ws(
            ', ',
            -- Until it has ended by itself, the ledger has the numbers.
            'calls=' || coalesce(v_run.completions, count(*)),
            'reused=' || v_run.reused_completions,
            'tokens=' || pgclarify_private.shown_tokens(
                coalesce(v_run.prompt_tokens, sum(completion.prompt_tokens)),
                coalesce(v_run.completion_tokens, sum(completion.completion_tokens))
            ),
            'cached tokens=' || nullif(coalesce(v_run.cached_tokens, sum(completion.cached_tokens)), 0),
            'cost=$' || trim_scale(v_run.cost_usd)
        ),
        null::text[]
    from pgclarify_private.completion
    where completion.run_id = v_run.run_id and completion.finished_at is not null;
    return query
    select
        1, 'Sent, and never answered',
        concat_ws(', ', 'calls=' || unanswered.calls, 'at most $' || trim_scale(nullif(unanswered.cost_usd, 0))),
        null::text[]
    from pgclarify_private.unanswered(v_run.run_id) as unanswered
    where v_run.finished_at is not null and unanswered.calls > 0;
    return query
    select 1, 'Saved', saved.told, null::text[]
    from (
        select
            concat_ws(
                ', ',
                '$' || trim_scale(nullif(v_run.reuse_saved_usd, 0)) || ' by replies that were paid for before',
                '$' || trim_scale(nullif(v_run.batch_saved_usd, 0)) || ' by batches',
                '$' || trim_scale(nullif(v_run.cache_saved_usd, 0)) || ' by cached input'
            ) as told
    ) as saved
    where saved.told <> '';
    return query
    select
        1, 'Result', format('select * from pgclarify.%s where run_id = %s', known.result_view, v_run.run_id), null::text[]
    from pgclarify_private.operations() as known
    where known.operation = v_run.operation and v_run.status in ('succeeded', 'partial');
end
$$;

comment on function pgclarify_private.explain_end(pgclarify_private.run) is
'The last lines of explain: why it stopped, what it cost, and where its result is.';

create or replace function pgclarify_private.explain_lines(run pgclarify_private.run, roles name[], detail text)
returns table (part integer, label text, body text, line text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
rows 50
as $$
declare
    v_run alias for $1;
    v_total_ms constant double precision := 1000 * extract(
        epoch from coalesce(v_run.finished_at, clock_timestamp()) - v_run.started_at
    );
begin
    return query
    select
        told.part, case when told.depth = 1 then told.label end, told.body,
        -- No line ends with a blank, even if foreign text is empty.
        rtrim(
            repeat('  ', told.depth) || coalesce(told.label || ': ', '') || told.body
            || coalesce('  (' || nullif(array_to_string(told.figures, ', '), '') || ')', '')
        )
    from (
        select 1 as part, 1 as place, head.*
        from pgclarify_private.explain_head(v_run, v_total_ms, explain_lines.roles) with ordinality as head
        union all
        select 2, 2, tree.*
        from pgclarify_private.explain_tree(
            v_run,
            case when v_run.finished_at is not null then nullif(v_total_ms, 0) end,
            explain_lines.roles,
            explain_lines.detail
        ) with ordinality as tree
        union all
        select 2, 3, tail.*
        from pgclarify_private.explain_end(v_run) with ordinality as tail
    ) as told
    order by told.place, told.ordinality;
end
$$;

comment on function pgclarify_private.explain_lines(pgclarify_private.run, name[], text) is
'The lines of explain. part: 1 for how it was asked, 2 for what came of it. label: of a fact about the whole run, which body '
'tells; null for other lines. It does not check who may see the run.';

create or replace function pgclarify_private.explain(caller pgclarify_private.caller, run_id bigint, options jsonb)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 50
as $$
declare
    v_options constant jsonb := pgclarify_private.check_options(
        explain.options, pgclarify_private.options_of('explain')
    );
begin
    return query
    select told.line
    from pgclarify_private.explain_lines(
        pgclarify_private.visible_run(explain.caller, explain.run_id),
        pgclarify_private.roles_of((explain.caller).name),
        v_options ->> 'detail'
    ) with ordinality as told (part, label, body, line, place)
    order by told.place;
end
$$;

comment on function pgclarify_private.explain(pgclarify_private.caller, bigint, jsonb) is 'See explain.';
grant execute on function pgclarify_private.explain(pgclarify_private.caller, bigint, jsonb) to pgclarify_reader;
