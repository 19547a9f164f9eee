-- Waiting: polling, locally where the snapshot moves on, and through the loopback where it does not.

create or replace function pgclarify_private.unfinished_runs(run_ids bigint[])
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return array(
        select run.run_id
        from pgclarify.run
        where run.run_id = any(unfinished_runs.run_ids) and run.status in ('queued', 'running')
    );
end
$$;

comment on function pgclarify_private.unfinished_runs(bigint[]) is 'Those of the given runs that are not over.';
grant execute on function pgclarify_private.unfinished_runs(bigint[]) to pgclarify_worker;

create or replace function pgclarify_private.cancel_runs(run_ids bigint[])
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cancelled bigint[];
begin
    with cancelled as (
        update pgclarify.run
        set status = 'cancelled', finished_at = clock_timestamp()
        where run.run_id in (
            select held.run_id
            from pgclarify.run as held
            where held.run_id = any(cancel_runs.run_ids) and held.status in ('queued', 'running')
            order by held.run_id
            for no key update
        )
        returning run.run_id
    )
    select coalesce(array_agg(cancelled.run_id), '{}') into v_cancelled from cancelled;
    perform pgclarify_private.settle_runs(v_cancelled);
    return cardinality(v_cancelled);
end
$$;

comment on function pgclarify_private.cancel_runs(bigint[]) is
'Cancel runs, and write down what they have paid for; returns how many were not over.';

create or replace function pgclarify_private.has_frozen_snapshot()
returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') or pg_is_in_recovery();
end;

comment on function pgclarify_private.has_frozen_snapshot() is
'True if this transaction cannot see what a worker commits from now on: above READ COMMITTED, or on a standby.';

create or replace function pgclarify_private.is_out_of_sight(run_ids bigint[])
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return pgclarify_private.has_frozen_snapshot()
        and exists (
            select
            from unnest(is_out_of_sight.run_ids) as asked (run_id)
            where not exists (select from pgclarify.run where run.run_id = asked.run_id and run.finished_at is not null)
        );
end
$$;

comment on function pgclarify_private.is_out_of_sight(bigint[]) is
'True if the snapshot of this transaction is too old to see the end of one of these runs, which are over.';

create or replace function pgclarify_private.await(run_ids bigint[], deadline timestamptz)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Long enough for a worker to be restarted.
    v_patience constant interval := '30 seconds';
    v_started constant timestamptz := clock_timestamp();
    v_is_remote constant boolean := pgclarify_private.has_frozen_snapshot();
    v_worker_seen_at timestamptz := clock_timestamp();
    v_worker_sought_at timestamptz := clock_timestamp();
    v_unfinished bigint[] := await.run_ids;
    v_is_served boolean;
    v_pause double precision;
begin
    loop
        if v_is_remote then
            v_unfinished := array(
                select value::bigint
                from jsonb_array_elements_text(pgclarify_private.loopback_call('loopback_unfinished', to_jsonb(v_unfinished)))
            );
        else
            v_unfinished := pgclarify_private.unfinished_runs(v_unfinished);
        end if;
        exit when cardinality(v_unfinished) = 0 or clock_timestamp() >= await.deadline;
        if clock_timestamp() > v_worker_sought_at + interval '5 seconds' then
            v_worker_sought_at := clock_timestamp();
            if v_is_remote then
                -- A frozen snapshot shows no heartbeat, and a standby no lock.
                v_is_served := pgclarify_private.loopback_call('loopback_is_served', '{}')::boolean;
            else
                -- A transaction sees the sessions of its first look, and no worker that has started since.
                perform pg_stat_clear_snapshot();
                v_is_served := exists (select from pgclarify_private.serving_workers());
            end if;
            if v_is_served then
                v_worker_seen_at := clock_timestamp();
            elsif clock_timestamp() > v_worker_seen_at + v_patience then
                raise exception 'no worker is running any more'
                    using errcode = 'PC001',
                        table = 'run', column = 'run_id', datatype = array_to_string(v_unfinished, ','),
                        detail = format('%s.', pgclarify_private.list_runs(v_unfinished)),
                        hint = 'They go on as soon as one is started with: pgclarify worker.';
            end if;
        end if;
        -- A small part of what it has taken so far: never much too late, never busy. A look through the loopback costs
        -- milliseconds, a local one some microseconds.
        v_pause := greatest(
            case when v_is_remote then 0.01 else 0.002 end,
            least(
                extract(epoch from clock_timestamp() - v_started) / case when v_is_remote then 20 else 60 end,
                case when v_is_remote or cardinality(v_unfinished) > 10 then 0.25 else 0.05 end
            )
        );
        if await.deadline is not null then
            v_pause := least(v_pause, greatest(extract(epoch from await.deadline - clock_timestamp()), 0.001));
        end if;
        perform pg_sleep(v_pause);
    end loop;
    return v_unfinished;
end
$$;

comment on function pgclarify_private.await(bigint[], timestamptz) is
'Wait until the runs are over or the deadline has passed (null: for ever); returns those that are not over. Error PC001 if no '
'worker has lived for half a minute.';

create or replace function pgclarify_private.list_runs(run_ids bigint[])
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case when cardinality(list_runs.run_ids) = 1 then 'Run ' else 'Runs ' end
        || array_to_string(list_runs.run_ids[:100], ', ')
        || case when cardinality(list_runs.run_ids) > 100 then ' and more' else '' end
        || case when cardinality(list_runs.run_ids) = 1 then ' goes on' else ' go on' end;
end;

comment on function pgclarify_private.list_runs(bigint[]) is 'Runs that go on, for a DETAIL: at most a hundred numbers.';

create or replace function pgclarify_private.rows(
    kind text, run_ids bigint[], requester name
)
returns jsonb
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.loopback_call(
        'loopback_rows',
        jsonb_build_object('kind', rows.kind, 'run_ids', rows.run_ids, 'requester', rows.requester)
    );
end;

comment on function pgclarify_private.rows(text, bigint[], name) is
'Rows of runs as seen from a second connection, as a JSON array; null if there are none.';

create or replace function pgclarify_private.ask(
    caller pgclarify_private.caller,
    operation text,
    corpus_id bigint,
    questions text[],
    settings jsonb,
    timeout interval,
    parent_run_id bigint default null
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester name := pgclarify_private.verify_caller(ask.caller);
    v_roles name[] := pgclarify_private.roles_of(v_requester);
    v_deadline timestamptz := pgclarify_private.deadline(ask.timeout);
    v_reuses constant boolean := pgclarify_private.reuses_runs();
    v_call_id constant uuid := gen_random_uuid();
    v_answered jsonb;
    v_distinct text[];
    v_new text[];
    v_payload jsonb;
    v_answer jsonb;
    v_entered bigint[] := '{}';
    v_state text;
    v_message text;
    v_detail text;
    v_hint text;
    v_table text;
    v_column text;
    v_values text;
    v_unfinished bigint[];
begin
    -- Equal questions once, in the order in which they first come.
    select array_agg(asked.question order by asked.ordinal) into v_distinct
    from (
        select given.question, min(given.ordinal) as ordinal
        from unnest(ask.questions) with ordinality as given (question, ordinal)
        group by given.question
    ) as asked;
    select coalesce(jsonb_object_agg(answered.question, answered.run_id), '{}') into v_answered
    from pgclarify_private.find_answered(
        ask.corpus_id, ask.operation, v_distinct, ask.settings, v_requester, v_roles
    ) as answered
    where v_reuses and ask.parent_run_id is null;
    perform pgclarify_private.note_served(v_answered);
    v_new := array(
        select given.question
        from unnest(v_distinct) with ordinality as given (question, ordinal)
        where not v_answered ? given.question
        order by given.ordinal
    );
    if cardinality(v_new) > 0 then
        v_payload := jsonb_build_object(
            'call_id', v_call_id,
            'requester', v_requester,
            'requester_oid', pgclarify_private.role_oid(v_requester)::text,
            'operation', ask.operation,
            'corpus_id', ask.corpus_id,
            'corpus', (select corpus.name from pgclarify.corpus where corpus.corpus_id = ask.corpus_id),
            'questions', v_new,
            'settings', ask.settings,
            'parent_run_id', ask.parent_run_id,
            'is_counted', pgclarify_private.counts_questions()
        );
        begin
            -- In steps: an error shows the statement that it comes from.
            v_answer := pgclarify_private.loopback_call('loopback_enter', v_payload);
            v_entered := array(
                select entered.value::bigint
                from jsonb_array_elements_text(v_answer) with ordinality as entered (value, ordinal)
                order by entered.ordinal
            );
            v_unfinished := pgclarify_private.await(v_entered, v_deadline);
        exception
            -- Nothing was entered, or it goes on when a worker comes back.
            when sqlstate 'PC001' or sqlstate 'PC004' or sqlstate 'PC005' then
                get stacked diagnostics
                    v_state = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail,
                    v_hint = pg_exception_hint, v_table = table_name, v_column = column_name, v_values = pg_datatype_name;
                -- Anew: the way through the loopback tells the reader nothing.
                raise exception
                    using errcode = v_state, message = v_message, detail = v_detail, hint = v_hint, table = v_table,
                        column = v_column, datatype = v_values;
            when query_canceled or others then
                -- Nobody waits any more, so nobody need pay any more. By the call's own id: it may not have come to know
                -- those of its runs.
                begin
                    perform pgclarify_private.loopback_call('loopback_cancel', jsonb_build_object('call_id', v_call_id));
                exception
                    when query_canceled or others then
                        null;
                end;
                raise;
        end;
        if cardinality(v_unfinished) > 0 then
            raise exception 'the answer did not come within %', ask.timeout
                using errcode = 'PC002',
                    table = 'run', column = 'run_id', datatype = array_to_string(v_unfinished, ','),
                    detail = format('%s.', pgclarify_private.list_runs(v_unfinished)),
                    hint = format(
                        'Wait with: select * from pgclarify.wait(array[%s]). ',
                        array_to_string(v_unfinished[:100], ', ')
                    ) || pgclarify_private.reading_hint(ask.operation, v_unfinished[1]);
        end if;
    end if;
    return array(
        select coalesce((v_answered ->> given.question)::bigint, entered.run_id)
        from unnest(ask.questions) with ordinality as given (question, ordinal)
        left join unnest(v_new, v_entered) as entered (question, run_id) on entered.question = given.question
        order by given.ordinal
    );
end
$$;

comment on function pgclarify_private.ask(pgclarify_private.caller, text, bigint, text[], jsonb, interval, bigint) is
'Ask and wait: the run of each question, in order. Answers still good are reused unless pgclarify.reuse_runs is off, equal '
'questions asked once. A cancelled call cancels its runs; after the timeout they go on, and error PC002 names them.';
