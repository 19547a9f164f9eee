-- explain: what a run was asked, what it did, why it stopped and what it cost, line by line.

create or replace function pgclarify._unusual_settings(run pgclarify.run)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_usual constant jsonb := case v_run.operation
        when 'search' then
            pgclarify._search_settings(
                10,
                case when v_run.settings ? 'retrieval' then '{"method": "adaptive"}' else '{}' end::jsonb
            ) - 'retrieval'
        when 'investigate' then pgclarify._investigate_settings('{}')
        when 'detect_ambiguity' then pgclarify._detection_settings('{"corpus": "any"}')
        when 'clarifying_questions' then pgclarify._clarifying_question_settings('{}')
        when 'list_answers' then pgclarify._check_options('{}', pgclarify._list_answers_options())
        when 'clarify' then pgclarify._clarify_settings(20, '{}')
        when 'consolidate' then pgclarify._clarify_settings(20, '{}')
        else '{}'
    end;
begin
    return (
        select
            string_agg(
                format('%s=%s', setting.key, pgclarify._shown(setting.value #>> '{}')), ', ' order by setting.key
            )
        from jsonb_each(v_run.settings) as setting
        where
            setting.value is distinct from v_usual -> setting.key
            -- No settings: what the verdicts that are consolidated again were embedded by, and a reply.
            and setting.key not in ('parent_embed', 'text')
    );
end
$$;

comment on function pgclarify._unusual_settings(pgclarify.run) is
'Settings of a run that a call which names no option does not have; null if there are none.';

create or replace function pgclarify._told_route(run pgclarify.run)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case (_told_route.run).route
            when 'answered' then 'answered in one pass'
            else 'clarified'
        end
        || case
            when (_told_route.run).route = 'answered' then ', since the question is clear'
            when detection.is_ambiguous then format(', since the question is ambiguous (%s)', detection.kind)
            when not detection.is_ambiguous then ', since the question is clear, but one pass found no proof of an answer'
            else ''
        end
        || case
            when (_told_route.run).saved_completions = 1 then '; it saved 1 call'
            when (_told_route.run).saved_completions > 1
                then format('; it saved %s calls', (_told_route.run).saved_completions)
            else ''
        end
    from (select) as always
    left join pgclarify.detection on detection.run_id = (_told_route.run).run_id and detection.ordinal = 1;
end;

comment on function pgclarify._told_route(pgclarify.run) is
'Which way a run with ask_back went, why, and what that saved; null while it is undecided.';

create or replace function pgclarify._explain_head(run pgclarify.run, total_ms double precision)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_waited_ms double precision := 1000 * extract(epoch from v_run.started_at - v_run.created_at);
    v_is_over boolean := v_run.finished_at is not null;
    v_settings text;
    v_remark text;
begin
    return next format(
        '%s%s%s: %s  (%s)', v_run.operation,
        case when v_run.operation = 'reply' then coalesce(' to what run ' || v_run.parent_run_id || ' asked back', '') end,
        coalesce(' in ' || pgclarify._shown(v_run.corpus_name, 60), ''),
        case
            when v_run.operation = 'detect_ambiguity_many'
                then pgclarify._shown(pgclarify._asked(v_run.operation, v_run.question))
            else '"' || pgclarify._shown(v_run.question) || '"'
        end,
        concat_ws(
            ', ',
            'run ' || v_run.run_id,
            v_run.status,
            'time=' || pgclarify._shown_number(_explain_head.total_ms) || ' ms' || case when v_is_over then '' else ' so far' end,
            case
                when v_run.operation in ('clarify', 'consolidate') and v_run.status in ('succeeded', 'partial') then (
                    select 'readings=' || count(*) from pgclarify.interpretation
                    where interpretation.run_id = v_run.run_id
                )
                when v_run.operation = 'search' and v_run.status = 'succeeded' then (
                    select 'passages=' || count(*) from pgclarify.candidate where candidate.run_id = v_run.run_id
                )
                when v_run.operation = 'investigate' then (
                    select 'steps=' || count(*) from pgclarify.step where step.run_id = v_run.run_id
                )
                when v_run.operation = 'detect_ambiguity_many' and v_run.status in ('succeeded', 'partial') then (
                    select 'ambiguous=' || count(*) filter (where detection.is_ambiguous)
                    from pgclarify.detection where detection.run_id = v_run.run_id
                )
                when v_run.operation = 'clarifying_questions' and v_run.status in ('succeeded', 'partial') then (
                    select 'questions=' || count(*) from pgclarify.clarifying_question
                    where clarifying_question.run_id = v_run.run_id
                )
                when v_run.operation = 'list_answers' then (
                    select 'answers=' || count(*) from pgclarify.listed_answer
                    where listed_answer.run_id = v_run.run_id
                )
            end
        )
    );
    if v_run.operation = 'reply' then
        return next format('  Reply: "%s"', pgclarify._shown(v_run.settings ->> 'text', 200));
    end if;
    if jsonb_array_length(v_run.history) > 0 then
        return next format(
            '  Said before: %s"%s"',
            case
                when jsonb_array_length(v_run.history) > 1
                    then jsonb_array_length(v_run.history) - 1 || ' more, and then '
                else ''
            end,
            pgclarify._shown(v_run.history ->> -1)
        );
    end if;
    return next format(
        '  Asked by %s at %s%s', pgclarify._shown(v_run.requested_by), to_char(v_run.created_at, 'YYYY-MM-DD HH24:MI:SS TZ'),
        case
            when v_run.attempt > 1 then
                format(
                    ', started again %s ms later, as attempt %s', pgclarify._shown_number(v_waited_ms), v_run.attempt
                )
            else coalesce(', waited ' || pgclarify._shown_number(v_waited_ms) || ' ms for a worker', '')
        end
    );
    if v_run.model is not null then
        return next format(
            '  Model %s, prompts %s, worker %s%s', pgclarify._shown(v_run.model), pgclarify._shown(v_run.prompt_version),
            v_run.worker_id,
            (
                select format(' (%s on %s)', pgclarify._shown(worker.provider), pgclarify._shown(worker.host))
                from pgclarify.worker where worker.worker_id = v_run.worker_id
            )
        );
    end if;
    v_settings := pgclarify._unusual_settings(v_run);
    if v_settings is not null then
        return next '  Settings other than the defaults: ' || v_settings;
    end if;
    if v_run.route is not null then
        return next '  Route: ' || pgclarify._told_route(v_run);
    end if;
    if v_run.error is not null then
        return next '  Error: ' || pgclarify._shown(v_run.error, 400);
    end if;
    v_remark := case
        when exists (select from pgclarify.stage where stage.run_id = v_run.run_id) then null
        when v_run.status = 'queued' and v_run.attempt = 0 then
            case
                when exists (select from pgclarify._living_workers()) then 'it waits for a worker, and nothing is done yet'
                else 'it waits for a worker, and none is running'
            end
        when v_run.attempt = 0 and v_run.status = 'cancelled' then 'it was cancelled before a worker took it'
        when not v_is_over then 'it goes on; the times of its stages are known when it ends'
        when v_run.status = 'cancelled' then 'it was cancelled, and the times of its stages are not known'
        when v_run.status = 'failed' then null
        else 'it is of an earlier version, and the times of its stages are not known'
    end;
    if v_remark is not null then
        return next '  State: ' || v_remark;
    end if;
end
$$;

comment on function pgclarify._explain_head(pgclarify.run, double precision) is
'The first lines of explain: what was asked, of whom, how it stands. total_ms: how long it took, or has so far.';

create or replace function pgclarify._explain_repeat(run pgclarify.run)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_roles name[] := pgclarify._roles_of(v_run.requested_by);
    v_pays constant boolean := v_run.operation not in ('search', 'detect_ambiguity', 'detect_ambiguity_many')
        or coalesce(v_run.settings ->> 'reranker' = 'model', false);
    v_settings constant jsonb := pgclarify._with_history(v_run.settings, v_run.history);
    v_kept constant text := case
        when not v_pays then ''
        when v_run.operation in ('investigate', 'list_answers')
            then '; only prompts over the same passages are not paid for again'
        else '; passages that were judged are not paid for again'
    end;
    v_answered bigint;
begin
    -- A conversation goes on from a reply.
    if v_run.finished_at is null or v_run.operation in ('consolidate', 'reply') then
        return null;
    elsif v_run.corpus_name is null then
        return 'a new run' || case when v_pays then '; calls that this one paid for are not paid for again' else '' end;
    elsif v_run.corpus_id is null then
        return 'it cannot be: the corpus was dropped';
    elsif v_run.status <> 'succeeded' then
        return 'a new run' || case when v_pays then '; calls that this one paid for are not paid for again' else '' end;
    end if;
    select answered.run_id into v_answered
    from pgclarify._find_answered(
        v_run.corpus_id, v_run.operation, array[v_run.question], v_settings, v_run.requested_by, v_roles
    ) as answered;
    return case
        when v_answered = v_run.run_id then
            format(
                'served from this run, with no call, while the corpus stays at revision %s', v_run.corpus_revision
            )
        when v_answered is not null then format('served from run %s, with no call', v_answered)
        -- Its present revision is not for everyone.
        when v_run.corpus_revision is distinct from (
            select counted.revision from pgclarify._corpus_count as counted where counted.corpus_id = v_run.corpus_id
        ) then
            'a new run, since the corpus has changed' || case
                when not v_pays then ''
                when v_run.operation in ('investigate', 'list_answers')
                    then '; only prompts over the same passages are not paid for again'
                else '; passages that are unchanged are not paid for again'
            end
        when pgclarify._explores(v_run.operation, v_run.settings) and v_run.linked_passages is distinct from (
            select counted.linked from pgclarify._corpus_count as counted where counted.corpus_id = v_run.corpus_id
        ) then 'a new run, since other passages have neighbors now' || v_kept
        when v_run.reuse_key is distinct from pgclarify._reuse_key(
            v_run.operation, v_run.corpus_id, v_run.question, v_settings, v_run.requested_by, v_roles
        ) then
            format('a new run, since the roles of %s have changed', pgclarify._shown(v_run.requested_by)) || v_kept
        when pgclarify._detects(v_run.operation, v_run.settings) then
            'a new run, since rules of ambiguity may have changed' || v_kept
        else 'a new run, since another model or other prompts are in service'
    end;
end
$$;

comment on function pgclarify._explain_repeat(pgclarify.run) is
'What an equal question of the same role would pay now; null if the run goes on, or if its like is never served again.';

create or replace function pgclarify._explain_end(run pgclarify.run)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_repeat text := pgclarify._explain_repeat(v_run);
begin
    return query
    select
        '  Passages: ' || concat_ws(
            ', ',
            sum(found.passages) || ' found',
            nullif(sum(found.verdicts), 0) || ' judged',
            case
                when sum(found.verdicts) > 0 then format(
                    '%s with an answer (%s)', sum(found.grounded),
                    string_agg(
                        format('%s of %s %s', found.grounded, found.passages, found.origin), ', ' order by found.origin
                    )
                )
            end
        )
    from (
        select
            candidate.origin, count(*) as passages, count(verdict.outcome) as verdicts,
            count(*) filter (where verdict.outcome = 'grounded') as grounded
        from pgclarify.candidate
        left join pgclarify.verdict on verdict.run_id = candidate.run_id and verdict.rank = candidate.rank
        where candidate.run_id = v_run.run_id
        group by candidate.origin
    ) as found
    having count(*) > 0;
    return query
    select
        format(
            '    %s %s: %s', why.passages, why.outcome,
            coalesce(pgclarify._shown(why.reason), 'no reason is known')
        )
    from (
        select verdict.outcome, coalesce(verdict.reason, verdict.error) as reason, count(*) as passages
        from pgclarify.verdict
        where verdict.run_id = v_run.run_id and verdict.outcome <> 'grounded'
        group by 1, 2
        order by 3 desc, 1, 2
        limit 5
    ) as why
    order by why.passages desc, why.outcome, why.reason;
    if v_run.stop_reason is not null then
        return next '  Stopped: ' || pgclarify._shown(v_run.stop_reason, 200);
    end if;
    return query
    select
        '  Calls: ' || string_agg(
            case
                when paid.calls = 1 then format('1 for %s, %s ms', paid.purpose, pgclarify._shown_number(paid.slowest_ms))
                else format(
                    '%s for %s, median %s ms, slowest %s ms', paid.calls, paid.purpose,
                    pgclarify._shown_number(paid.median_ms), pgclarify._shown_number(paid.slowest_ms)
                )
            end,
            '; ' order by paid.first
        )
    from (
        select
            completion.purpose, count(*) as calls, min(completion.completion_id) as first,
            percentile_cont(0.5) within group (order by completion.latency_ms) as median_ms,
            max(completion.latency_ms) as slowest_ms
        from pgclarify.completion
        where completion.run_id = v_run.run_id and completion.reply is not null
        group by completion.purpose
    ) as paid
    having count(*) > 0;
    return query
    select
        '  Total: ' || concat_ws(
            ', ',
            -- Until it has ended by itself, the ledger knows.
            'calls=' || coalesce(v_run.completions, count(*)),
            'reused=' || v_run.reused_completions,
            'tokens=' || pgclarify._shown_tokens(
                coalesce(v_run.prompt_tokens, sum(completion.prompt_tokens)),
                coalesce(v_run.completion_tokens, sum(completion.completion_tokens))
            ),
            'cost=$' || trim_scale(v_run.cost_usd)
        )
    from pgclarify.completion
    where completion.run_id = v_run.run_id and completion.reply is not null;
    if v_repeat is not null then
        return next '  Asked again: ' || v_repeat;
    end if;
end
$$;

comment on function pgclarify._explain_end(pgclarify.run) is 'The last lines of explain: why it stopped, and what it cost.';

create or replace function pgclarify._explain(caller pgclarify._caller, run_id bigint, options jsonb)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_options jsonb := pgclarify._check_options(
        _explain.options, '{"detail": {"choices": ["passages", "batches", "stages"], "default": "passages"}}'
    );
    v_run pgclarify.run := pgclarify._visible_run(_explain.caller, _explain.run_id);
    v_total_ms double precision := 1000 * extract(
        epoch from coalesce(v_run.finished_at, clock_timestamp()) - v_run.started_at
    );
begin
    return query select rtrim(head.line) from pgclarify._explain_head(v_run, v_total_ms) as head (line);
    return query
    select rtrim(tree.line)
    from pgclarify._explain_tree(
        v_run,
        case when v_run.finished_at is not null then nullif(v_total_ms, 0) end,
        pgclarify._roles_of((_explain.caller).name),
        v_options ->> 'detail'
    ) as tree (line);
    return query select rtrim(tail.line) from pgclarify._explain_end(v_run) as tail (line);
end
$$;

comment on function pgclarify._explain(pgclarify._caller, bigint, jsonb) is 'See explain.';
grant execute on function pgclarify._explain(pgclarify._caller, bigint, jsonb) to pgclarify_reader;

create or replace function pgclarify.explain(run_id bigint, options jsonb default '{}')
returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
rows 50
as $$
begin
    return query
    select line.*
    from pgclarify._caller
    cross join lateral pgclarify._explain(_caller, explain.run_id, explain.options) as line;
end
$$;

comment on function pgclarify.explain(bigint, jsonb) is
'What a run did, one line a row, as a tree: each stage with its time, calls and tokens; each passage, how it was reached and '
'what was decided about it; why it stopped, and what it cost. run_id: any run that you may see, also one that goes on. '
'options: detail (passages; batches, without single passages; stages, without batches).';
grant execute on function pgclarify.explain(bigint, jsonb) to pgclarify_reader;
