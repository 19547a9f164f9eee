-- explain: its first lines: the question, the corpus, the route and the state.

create or replace function pgclarify_private.told_route(run pgclarify_private.run)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case when (told_route.run).route = 'answered' then 'answered in one pass' else 'clarified' end
        || case
            when (told_route.run).route = 'answered' then ', since the question is clear'
            when detection.is_ambiguous then format(', since the question is ambiguous (%s)', detection.kind)
            when not detection.is_ambiguous then ', since the question is clear, but one pass found no proof of an answer'
            else ''
        end
    from (select) as always
    left join pgclarify_private.detection on detection.run_id = (told_route.run).run_id and detection.ordinal = 1;
end;

comment on function pgclarify_private.told_route(pgclarify_private.run) is
'The route of a run with ask_back, and why it was chosen; null before the decision.';

create or replace function pgclarify_private.explain_head(run pgclarify_private.run, total_ms double precision, roles name[])
returns table (depth integer, label text, body text, figures text[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_waited_ms double precision := 1000 * extract(epoch from v_run.started_at - v_run.created_at);
    v_is_over boolean := v_run.finished_at is not null;
    v_history constant jsonb := coalesce(v_run.settings -> 'history', '[]');
    v_remark text;
begin
    return query select
        0, null,
        format(
            '%s%s%s: %s', v_run.operation,
            case when v_run.settings ? 'text' then ' to what run ' || v_run.parent_run_id || ' asked back' end,
            coalesce(' in ' || pgclarify_private.shown(v_run.corpus_name, 60), ''),
            case
                when v_run.settings ? 'questions' then pgclarify_private.asked(v_run.question, v_run.settings)
                else '"' || pgclarify_private.shown(v_run.question) || '"'
            end
        ),
        array[
            'run ' || v_run.run_id,
            v_run.status,
            'time=' || pgclarify_private.shown_number(explain_head.total_ms) || ' ms'
            || case when v_is_over then '' else ' so far' end,
            case
                when v_run.status in ('succeeded', 'partial') then 'results=' || pgclarify_private.result_count(v_run)
            end
        ];
    if v_run.settings ? 'text' then
        return query select
            1, 'Reply', format('"%s"', pgclarify_private.shown(v_run.settings ->> 'text', 200)), null::text[];
    end if;
    if jsonb_array_length(v_history) > 0 then
        return query select
            1, 'Said before',
            format(
                '%s"%s"',
                case
                    when jsonb_array_length(v_history) > 1
                        then jsonb_array_length(v_history) - 1 || ' more, and then '
                    else ''
                end,
                pgclarify_private.shown(v_history ->> -1)
            ),
            null::text[];
    end if;
    return query select
        1, null,
        format(
            'Asked by %s at %s%s', pgclarify_private.shown(v_run.requested_by),
            to_char(v_run.created_at, 'YYYY-MM-DD HH24:MI:SS TZ'),
            case
                when v_run.attempt > 1 then
                    format(
                        ', started again %s ms later, as attempt %s', pgclarify_private.shown_number(v_waited_ms),
                        v_run.attempt
                    )
                else coalesce(', waited ' || pgclarify_private.shown_number(v_waited_ms) || ' ms for a worker', '')
            end
        ),
        null::text[];
    if v_run.model is not null then
        return query select
            1, null,
            format(
                'Model %s, prompts %s, worker %s%s', pgclarify_private.shown(v_run.model),
                -- A version of each prompt.
                pgclarify_private.shown(v_run.prompt_version, 1000),
                v_run.worker_id,
                (
                    select format(' (%s on %s)', pgclarify_private.shown(worker.provider), pgclarify_private.shown(worker.host))
                    from pgclarify_private.worker where worker.worker_id = v_run.worker_id
                )
            ),
            null::text[];
    end if;
    return query
    select
        1, 'Settings',
        string_agg(
            format('%s=%s', setting.key, pgclarify_private.shown(setting.value #>> '{}')), ', ' order by setting.key
        ),
        null::text[]
    from jsonb_each(v_run.settings) as setting
    -- Not settings: a reply, what was said before, and the number of questions.
    where setting.key not in ('text', 'history', 'questions', 'distinct_questions', 'answered')
    having count(*) > 0;
    if v_run.settings ?| '{filter,document_set}' then
        return query select
            1, 'Part',
            pgclarify_private.told_part(v_run.corpus_id, explain_head.roles, v_run.settings),
            null::text[];
    end if;
    if v_run.route is not null then
        return query select 1, 'Route', pgclarify_private.told_route(v_run), null::text[];
    end if;
    if v_run.error is not null then
        return query select 1, 'Error', pgclarify_private.shown(v_run.error, 400), null::text[];
    end if;
    v_remark := case
        when exists (select from pgclarify_private.stage where stage.run_id = v_run.run_id) then null
        when v_run.status = 'queued' and v_run.attempt = 0
            then 'it waits for a worker, and ' || coalesce(pgclarify_private.why_unserved(), 'nothing is done yet')
        when v_run.attempt = 0 and v_run.status = 'cancelled' then 'it was cancelled before a worker took it'
        when v_run.status = 'queued' and v_run.due_at = 'infinity' then (
            select
                format(
                    'it waits for the endpoint''s batch API, which may take a day: of its calls there, %s are not sent yet, '
                    '%s are sent, and %s are over',
                    count(*) filter (where not request.is_over and not is_sent.is_sent),
                    count(*) filter (where not request.is_over and is_sent.is_sent),
                    count(*) filter (where request.is_over)
                )
            from pgclarify_private.batch_request as request
            cross join lateral (
                select exists (
                    select from pgclarify_private.batch_request as same
                    inner join pgclarify_private.batch on batch.batch_id = same.batch_id
                    where same.completion_id = request.completion_id and batch.remote_id is not null
                ) as is_sent
            ) as is_sent
            where request.run_id = v_run.run_id
        )
        when not v_is_over then 'it goes on; the times of its stages are known when it ends'
        when v_run.status = 'cancelled' then 'it was cancelled, and the times of its stages are not known'
        when v_run.status = 'failed' then null
        else 'it has no stages: nothing was to do'
    end;
    if v_remark is not null then
        return query select 1, 'State', v_remark, null::text[];
    end if;
end
$$;

comment on function pgclarify_private.explain_head(pgclarify_private.run, double precision, name[]) is
'The first lines of explain: the question, the corpus, the state. total_ms: its time, so far if it is not over. roles: decide '
'which documents are counted.';
