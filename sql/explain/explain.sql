-- explain: why a run stopped and what it cost; and all of its lines together. Only this file formats them.

create or replace function pgclarify_private.explain_repeat(run pgclarify_private.run)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_roles name[] := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    v_pays constant boolean := v_run.operation not in ('search', 'detect_ambiguity')
        or coalesce(v_run.settings ->> 'reranker' = 'model' or starts_with(v_run.settings ->> 'reranker', 'endpoint:'), false);
    v_settings constant jsonb := pgclarify_private.with_history(v_run.settings, v_run.history);
    v_kept constant text := case
        when not v_pays then ''
        when v_run.operation = 'investigate'
            then '; only prompts over the same passages are not paid for again'
        else '; passages that are unchanged are not paid for again'
    end;
    v_answered bigint;
    v_seen record;
begin
    -- A reply continues a conversation.
    if v_run.finished_at is null or v_run.operation in ('consolidate', 'reply', 'estimate') then
        return null;
    elsif v_run.corpus_id is null and v_run.corpus_name is not null then
        return 'it cannot be: the corpus was dropped';
    elsif v_run.corpus_id is null or v_run.status <> 'succeeded' then
        return 'a new run' || case when v_pays then '; calls that this one paid for are not paid for again' else '' end;
    end if;
    if not pgclarify_private.reuses_runs() then
        return 'a new run, since pgclarify.reuse_runs is off here' || v_kept;
    end if;
    select answered.run_id into v_answered
    from pgclarify_private.find_reusable_runs(
        v_run.corpus_id, v_run.operation, array[v_run.question], v_settings, v_run.requested_by, v_roles
    ) as answered;
    select seen.* into v_seen from pgclarify_private.seen_revision(v_run.corpus_id, v_roles) as seen;
    return case
        when v_answered = v_run.run_id then
            format(
                'served from this run, with no call, while the corpus stays at revision %s', v_run.corpus_revision
            )
        when v_answered is not null then format('served from run %s, with no call', v_answered)
        when v_run.corpus_revision is distinct from v_seen.revision then
            'a new run, since the corpus has changed' || v_kept
        when
            pgclarify_private.explores(v_run.settings)
            and v_run.graph_revision is distinct from v_seen.graph_revision
            then 'a new run, since other passages have neighbors now' || v_kept
        when v_run.reuse_key is distinct from pgclarify_private.reuse_key(
            v_run.operation, v_run.corpus_id, v_run.question, v_settings, v_run.requested_by, v_roles
        ) then
            format('a new run, since the roles of %s have changed', pgclarify_private.shown(v_run.requested_by)) || v_kept
        when pgclarify_private.detects(v_run.operation, v_run.settings) then
            'a new run, since rules or the classifier of ambiguity may have changed' || v_kept
        else 'a new run, since another model, other prompts or another version are in service'
    end;
end
$$;

comment on function pgclarify_private.explain_repeat(pgclarify_private.run) is
'What an equal question of the same role would pay now; null if the run is not over, or if such runs are never reused.';

create or replace function pgclarify_private.explain_end(run pgclarify_private.run)
returns table (depth integer, kind text, label text, body text, figures text[])
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_repeat text := pgclarify_private.explain_repeat(v_run);
begin
    return query
    select
        1, 'summary', 'Passages',
        concat_ws(
            ', ',
            sum(found.passages) || ' found',
            nullif(sum(found.verdicts), 0) || ' judged',
            nullif(sum(found.refused), 0) || ' not judged',
            case
                when sum(found.verdicts) > 0 then format(
                    '%s with an answer (%s)', sum(found.grounded),
                    string_agg(
                        format('%s of %s %s', found.grounded, found.passages, found.origin), ', ' order by found.origin
                    )
                )
            end
        ),
        null::text[]
    from (
        select
            candidate.origin, count(*) as passages,
            count(verdict.outcome) filter (where not pgclarify_private.is_over_budget(verdict.error_code)) as verdicts,
            count(*) filter (where pgclarify_private.is_over_budget(verdict.error_code)) as refused,
            count(*) filter (where verdict.outcome = 'grounded') as grounded
        from pgclarify_private.candidate
        left join pgclarify_private.verdict on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
        where candidate.run_id = v_run.run_id
        group by candidate.origin
    ) as found
    having count(*) > 0;
    return query
    select
        2, 'detail', format('%s %s', why.passages, why.outcome),
        coalesce(pgclarify_private.shown(why.reason), 'no reason is known'), null::text[]
    from (
        select
            verdict.outcome,
            case
                when verdict.outcome = 'erased' then 'what was decided is gone with its document'
                else coalesce(verdict.reason, verdict.error)
            end as reason,
            count(*) as passages
        from pgclarify_private.verdict
        where
            verdict.run_id = v_run.run_id
            and verdict.outcome <> 'grounded'
            and not pgclarify_private.is_over_budget(verdict.error_code)
        group by 1, 2
        order by 3 desc, 1, 2
        limit 5
    ) as why
    order by why.passages desc, why.outcome, why.reason;
    if v_run.stop_reason is not null then
        return query select 1, 'summary', 'Stopped', pgclarify_private.shown(v_run.stop_reason, 200), null::text[];
    end if;
    return query
    select 1, 'detail', 'Stop code', format('%s, %s. %s', known.stop_code, known.meaning, known.help), null::text[]
    from pgclarify_private.stop_codes() as known
    where known.stop_code = v_run.stop_code;
    return query
    select
        1, 'summary', 'Calls',
        string_agg(
            case
                when paid.batched > 0
                    then format('%s for %s, %s of them in a batch', paid.calls, paid.purpose, paid.batched)
                when paid.calls = 1
                    then format('1 for %s, %s ms', paid.purpose, pgclarify_private.shown_number(paid.slowest_ms))
                else format(
                    '%s for %s, median %s ms, slowest %s ms', paid.calls, paid.purpose,
                    pgclarify_private.shown_number(paid.median_ms), pgclarify_private.shown_number(paid.slowest_ms)
                )
            end,
            '; ' order by paid.first
        ),
        null::text[]
    from (
        select
            completion.purpose, count(*) as calls, min(completion.completion_id) as first,
            count(*) filter (where completion.is_batched) as batched,
            percentile_cont(0.5) within group (order by completion.latency_ms) as median_ms,
            max(completion.latency_ms) as slowest_ms
        from pgclarify_private.completion
        where completion.run_id = v_run.run_id and completion.finished_at is not null
        group by completion.purpose
    ) as paid
    having count(*) > 0;
    return query
    select
        1, 'summary', 'Total',
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
    select 1, 'summary', 'Saved', saved.told, null::text[]
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
    if v_repeat is not null then
        return query select 1, 'summary', 'Asked again', v_repeat, null::text[];
    end if;
end
$$;

comment on function pgclarify_private.explain_end(pgclarify_private.run) is
'The last lines of explain: why it stopped, and what it cost.';

create or replace function pgclarify_private.explain(caller pgclarify_private.caller, run_id bigint, options jsonb)
returns table (kind text, indent text, label text, body text, figures text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 50
as $$
declare
    v_options jsonb := pgclarify_private.check_options(
        explain.options, pgclarify_private.options_of('explain')
    );
    v_run pgclarify_private.run := pgclarify_private.visible_run(explain.caller, explain.run_id);
    v_total_ms double precision := 1000 * extract(
        epoch from coalesce(v_run.finished_at, clock_timestamp()) - v_run.started_at
    );
begin
    return query
    select
        line.kind,
        -- As in EXPLAIN: a level is two blanks, and the arrow of a node replaces two levels.
        repeat('  ', line.depth) || case when line.kind = 'node' then '->  ' else '' end,
        coalesce(line.label || ':', ''),
        -- No line ends with a blank, even if foreign text is empty.
        case when shown.figures = '' then rtrim(shown.body) else shown.body end,
        shown.figures
    from (
        select 1 as part, head.*
        from pgclarify_private.explain_head(v_run, v_total_ms) with ordinality as head
        union all
        select 2, tree.*
        from pgclarify_private.explain_tree(
            v_run,
            case when v_run.finished_at is not null then nullif(v_total_ms, 0) end,
            pgclarify_private.roles_of((explain.caller).name),
            v_options ->> 'detail'
        ) with ordinality as tree
        union all
        select 3, tail.*
        from pgclarify_private.explain_end(v_run) with ordinality as tail
    ) as line
    cross join lateral (
        select
            case when line.label is not null then ' ' else '' end || line.body as body,
            coalesce('  (' || nullif(array_to_string(line.figures, ', '), '') || ')', '') as figures
    ) as shown
    order by line.part, line.ordinality;
end
$$;

comment on function pgclarify_private.explain(pgclarify_private.caller, bigint, jsonb) is
'The lines of explain, each in four parts that are concatenated: indent (with the arrow of a node), label, body and figures; '
'a missing part is empty. kind: head (the first line), error, state, node (of the tree), summary (of the last lines) or '
'detail. Foreign text is only in body; variants of a listed answer are in figures.';
grant execute on function pgclarify_private.explain(pgclarify_private.caller, bigint, jsonb) to pgclarify_reader;

create or replace function pgclarify.explain(run_id bigint, options jsonb default '{}')
returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
rows 50
as $$
begin
    return query
    select explained.indent || explained.label || explained.body || explained.figures
    from pgclarify_private.caller
    cross join lateral pgclarify_private.explain(caller, explain.run_id, explain.options) as explained;
end
$$;

comment on function pgclarify.explain(bigint, jsonb) is
'What a run did, one line in each row, as a tree: each stage with its time, calls and tokens; each passage, how it was found '
'and the verdict on it; why it stopped, and what it cost. run_id: any run that you may see, even if it is not over. options: '
'detail (passages; batches, without single passages; stages, without batches).';
grant execute on function pgclarify.explain(bigint, jsonb) to pgclarify_reader;
