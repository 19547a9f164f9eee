-- The loopback is a second connection to this database. A call that waits sends its request through it, so that a worker sees
-- the request although the caller's transaction is open. Role pgclarify_loopback can only enqueue, cancel and read, and only
-- signed requests.

create or replace function pgclarify_private.loopback_open(connection_name text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
-- A caller who switches it on would receive each plan, with the password as a constant.
set debug_print_plan = off
as $$
declare
    v_loopback pgclarify_private.loopback;
    v_deadline timestamptz := clock_timestamp() + interval '20 seconds';
    v_pause double precision := 0.01;
    v_message text;
    v_settings jsonb;
begin
    -- A name in a schema without USAGE raises an error instead of null.
    if (
        case
            when has_schema_privilege(to_regnamespace('@extschema:dblink@'), 'usage')
                then to_regprocedure('@extschema:dblink@.dblink_connect(text, text)')
        end
    ) is null then
        raise exception 'waiting for an answer needs the extension dblink'
            using errcode = 'PC005',
                detail = 'A call that waits sends its request on a second connection.',
                hint = 'Have a superuser run pgclarify init again where dblink is installed, or use pgclarify.submit, commit, '
                    'and pgclarify.wait.';
    end if;
    select loopback.* into v_loopback from pgclarify_private.loopback;
    if pg_is_in_recovery() and v_loopback.host is null then
        raise exception 'this server is a standby and does not know its primary'
            using errcode = 'PC005',
                detail = 'A call that waits is carried out there.',
                hint = 'Run on the primary: update pgclarify_private.loopback set host = ''HOST'', port = PORT;';
    end if;
    v_settings := jsonb_strip_nulls(
        jsonb_build_object(
            'user', 'pgclarify_loopback',
            'password', v_loopback.password,
            'dbname', current_database(),
            'host', coalesce(v_loopback.host, v_loopback.socket_dir, 'localhost'),
            -- A port is used only with its host.
            'port', coalesce(case when v_loopback.host is not null then v_loopback.port end::text, current_setting('port')),
            'connect_timeout', 10,
            'application_name', 'pgclarify',
            'options',
            '-c lock_timeout=5s -c statement_timeout=30s -c default_transaction_read_only=off'
            ' -c default_transaction_isolation=read\ committed -c idle_in_transaction_session_timeout=30s'
            -- Settings of the database count on this connection, too.
            ' -c search_path=pg_catalog,pg_temp -c standard_conforming_strings=on -c array_nulls=on -c datestyle=iso,mdy'
            ' -c intervalstyle=postgres -c timezone=UTC -c extra_float_digits=1 -c bytea_output=hex'
        )
    );
    loop
        begin
            -- If a superuser installs pgclarify, it creates a function that can also connect when the server asks for no
            -- password.
            if (
                case
                    when has_schema_privilege(to_regnamespace('pgclarify_dblink'), 'usage')
                        then has_function_privilege(
                            to_regprocedure('pgclarify_dblink.connect_loopback(text, jsonb)'), 'execute'
                        )
                end
            ) then
                perform pgclarify_dblink.connect_loopback(loopback_open.connection_name, v_settings);
            else
                perform @extschema:dblink@.dblink_connect(
                    loopback_open.connection_name,
                    (
                        select string_agg(setting.key || '=' || pgclarify_private.connection_value(setting.value), ' ')
                        from jsonb_each_text(v_settings) as setting
                    )
                );
            end if;
            return;
        exception
            when sqlclient_unable_to_establish_sqlconnection then
                get stacked diagnostics v_message = pg_exception_detail;
                -- With many callers at once, the role's connection limit keeps them from using all connections. dblink passes
                -- on PostgreSQL's text, without its SQLSTATE (53300). The text may be in the server's language, so being near a
                -- limit counts, too.
                if clock_timestamp() > v_deadline
                    or v_message not like '%too many%'
                    and v_message not like '%remaining connection slots%'
                    and (
                        select
                            count(*) filter (where pg_stat_activity.usename = 'pgclarify_loopback') < 15
                            and count(*) < 0.8 * current_setting('max_connections')::integer
                        from pg_stat_activity
                    ) then
                    raise exception 'the loopback connection failed'
                        using errcode = 'PC005',
                            detail = v_message,
                            hint = 'The server must let role pgclarify_loopback in by its password, at the address in '
                                'pgclarify_private.loopback: see docs/operations.md#connections. Or use pgclarify.submit, commit, '
                                'and pgclarify.wait.';
                end if;
            when sqlstate '2F003' or connection_exception then
                -- dblink itself refused: there is no password, or the server did not ask for it.
                get stacked diagnostics v_message = pg_exception_detail;
                raise exception 'the loopback connection failed'
                    using errcode = 'PC005',
                        detail = coalesce(nullif(v_message, ''), sqlerrm),
                        hint = 'The server must ask pgclarify_loopback for its password, and this database must know it: set '
                            'PGCLARIFY_LOOPBACK_PASSWORD and run pgclarify init, or have a superuser run pgclarify init.';
        end;
        perform pg_sleep(v_pause * (0.5 + random()));
        v_pause := least(v_pause * 1.5, 0.25);
    end loop;
end
$$;

comment on function pgclarify_private.loopback_open(text) is
'Open a loopback under a name. Waits while all connections of the role are in use. Error PC005 without dblink.';

create or replace function pgclarify_private.connection_value(setting text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select '''' || replace(replace(connection_value.setting, E'\\', E'\\\\'), '''', E'\\''') || '''';
end;

comment on function pgclarify_private.connection_value(text) is 'A value quoted for a libpq connection string.';

create or replace function pgclarify_private.loopback_call(request text, payload jsonb)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_connection text := format('pgclarify %s', gen_random_uuid());
    v_challenge text;
    v_statement text;
    v_answer jsonb;
begin
    -- The connection must always be closed, even after a cancel in the middle of opening or closing it: everyone in this
    -- session could use it.
    perform pgclarify_private.loopback_open(v_connection);
    perform @extschema:dblink@.dblink_exec(v_connection, 'begin');
    select challenge.challenge into v_challenge
    from @extschema:dblink@.dblink(v_connection, 'select pgclarify_private.loopback_challenge()') as challenge (challenge text);
    -- In variables: an error shows the statement that raised it.
    v_statement := format(
        'select pgclarify_private.answer_loopback(%L, %L::jsonb, %L::bytea)',
        loopback_call.request,
        loopback_call.payload,
        pgclarify_private.sign(concat_ws(' ', 'loopback', v_challenge, loopback_call.request, loopback_call.payload))
    );
    select answered.answer into v_answer
    from @extschema:dblink@.dblink(v_connection, v_statement) as answered (answer jsonb);
    perform @extschema:dblink@.dblink_exec(v_connection, 'commit');
    perform @extschema:dblink@.dblink_disconnect(v_connection);
    return v_answer;
exception
    when query_canceled or others then
        begin
            if v_connection = any(@extschema:dblink@.dblink_get_connections()) then
                perform @extschema:dblink@.dblink_disconnect(v_connection);
            end if;
        exception
            when query_canceled or others then
                null;
        end;
        raise;
end
$$;

comment on function pgclarify_private.loopback_call(text, jsonb) is
'The result of answer_loopback on a second connection, in a separate transaction. The request is signed for that transaction '
'only.';

create or replace function pgclarify_private.loopback_challenge()
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select concat_ws(' ', pg_backend_pid(), extract(epoch from transaction_timestamp()));
end;

comment on function pgclarify_private.loopback_challenge() is
'The text that a signature must contain to be valid in this transaction.';
grant execute on function pgclarify_private.loopback_challenge() to pgclarify_loopback;

create or replace function pgclarify_private.loopback_enter(payload jsonb)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester name := loopback_enter.payload ->> 'requester';
    v_corpus_id bigint := (loopback_enter.payload ->> 'corpus_id')::bigint;
    v_parent_run_id bigint := (loopback_enter.payload ->> 'parent_run_id')::bigint;
begin
    -- A caller that is cancelled during this commit does not know the run ids. Request cancel takes the same lock, so it waits for
    -- the end of this transaction.
    perform pg_advisory_xact_lock(hashtextextended(loopback_enter.payload ->> 'call_id', 1885823084));
    if pgclarify_private.role_oid(v_requester) <> coalesce((loopback_enter.payload ->> 'requester_oid')::oid, 0)
        or pgclarify_private.role_oid(v_requester) = 0
        or v_corpus_id is not null
        and not exists (select from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus_id)
        or v_parent_run_id is not null
        and not exists (select from pgclarify_private.run where run.run_id = v_parent_run_id) then
        raise exception '% not committed yet',
            coalesce('corpus "' || (loopback_enter.payload ->> 'corpus') || '" is', 'what this call goes on from is')
            using errcode = 'PC004',
                detail = 'It, the run or the role was created in a transaction that is still open, so no worker sees it.',
                hint = 'Commit first, then ask.';
    end if;
    -- The caller does not see a worker that started after its snapshot, and on a standby none.
    if not (loopback_enter.payload ->> 'is_served')::boolean
    and not exists (select from pgclarify_private.serving_workers()) then
        raise exception 'no worker is running'
            using errcode = 'PC001',
                detail = 'Questions are answered by a worker process; none is connected to this database.',
                hint = 'Start one with: pgclarify worker (or pgclarify up for the embedded server).';
    end if;
    -- The new rows would wait for the lock, and keep one of the few loopback connections meanwhile.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus_id for key share skip locked;
    if not found and v_corpus_id is not null then
        raise exception 'corpus "%" is locked', loopback_enter.payload ->> 'corpus'
            -- A separate code, so that enter_when_free waits for this lock alone. It raises 55P03 in the end.
            using errcode = 'PC098',
                detail = 'Another transaction has locked it, for example to distribute it or to erase a document.',
                hint = 'Ask again when that transaction has ended, or pass a longer timeout.';
    end if;
    -- The settings of the caller's session: enter_runs reads them from this session.
    perform set_config('pgclarify.count_questions', loopback_enter.payload ->> 'is_counted', true);
    perform set_config('pgclarify.traceparent', loopback_enter.payload ->> 'traceparent', true);
    return to_jsonb(
        pgclarify_private.enter_runs(
            v_requester,
            (loopback_enter.payload ->> 'login')::name,
            -- A new session would need a millisecond to find them. start_run finds them again.
            array(select jsonb_array_elements_text(loopback_enter.payload -> 'roles'))::name[],
            loopback_enter.payload ->> 'operation',
            v_corpus_id,
            array(select jsonb_array_elements_text(loopback_enter.payload -> 'questions')),
            loopback_enter.payload -> 'settings',
            v_parent_run_id,
            (loopback_enter.payload ->> 'call_id')::uuid
        )
    );
end
$$;

comment on function pgclarify_private.loopback_enter(jsonb) is
'Enter runs; returns their ids. Error PC001 without a living worker, PC004 if the corpus cannot be seen from here, PC098 if it '
'is locked.';

create or replace function pgclarify_private.rows_in_json(
    row_type text, ids bigint[], requester name, include text default null
)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- JSON has all digits of a number, whatever the caller has set.
set extra_float_digits = 1
as $$
declare
    v_rows jsonb;
begin
    execute format(
        'select jsonb_agg(seen) from pgclarify_private.%I($1, $2%s) as seen', rows_in_json.row_type || '_rows',
        case when rows_in_json.include is not null then ', $3' end
    ) into v_rows using rows_in_json.ids, rows_in_json.requester, rows_in_json.include;
    return v_rows;
end
$$;

comment on function pgclarify_private.rows_in_json(text, bigint[], name, text) is
'The rows of runs as a JSON array, in order; null if there are none. row_type: a type of schema pgclarify; the function with '
'its name and _rows finds them. include: as in clarification_rows, for readings.';

create or replace function pgclarify_private.answer_loopback(request text, payload jsonb, signature bytea)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if answer_loopback.signature is distinct from pgclarify_private.sign(
        concat_ws(
            ' ', 'loopback', pgclarify_private.loopback_challenge(), answer_loopback.request, answer_loopback.payload
        )
    ) then
        raise exception 'the request is not signed'
            using errcode = 'insufficient_privilege',
                detail = 'The loopback accepts only what functions of pgclarify signed for the running transaction.',
                hint = 'Call the public functions, such as pgclarify.clarify.';
    end if;
    case answer_loopback.request
        when 'enter' then
            return pgclarify_private.loopback_enter(answer_loopback.payload);
        when 'cancel' then
            perform pg_advisory_xact_lock(hashtextextended(answer_loopback.payload ->> 'call_id', 1885823084));
            return to_jsonb(
                pgclarify_private.cancel_runs(
                    array(
                        select run.run_id
                        from pgclarify_private.run
                        where run.call_id = (answer_loopback.payload ->> 'call_id')::uuid
                            and run.status in ('queued', 'running')
                    )
                )
            );
        when 'unfinished' then
            return to_jsonb(
                pgclarify_private.unfinished_runs(
                    array(select value::bigint from jsonb_array_elements_text(answer_loopback.payload))
                )
            );
        when 'progress' then
            return to_jsonb(
                pgclarify_private.progress(
                    array(select value::bigint from jsonb_array_elements_text(answer_loopback.payload -> 'run_ids')),
                    array(select value::bigint from jsonb_array_elements_text(answer_loopback.payload -> 'unfinished'))
                )
            );
        when 'make_table_reader' then
            perform pgclarify_private.make_table_reader(answer_loopback.payload::bigint::oid);
            return null;
        when 'is_served' then
            return to_jsonb(exists (select from pgclarify_private.serving_workers()));
        when 'why_unserved' then
            return to_jsonb(pgclarify_private.why_unserved());
        when 'rows' then
            return pgclarify_private.rows_in_json(
                answer_loopback.payload ->> 'row_type',
                array(select value::bigint from jsonb_array_elements_text(answer_loopback.payload -> 'ids')),
                answer_loopback.payload ->> 'requester',
                answer_loopback.payload ->> 'include'
            );
    end case;
end
$$;

comment on function pgclarify_private.answer_loopback(text, jsonb, bytea) is
'Carry out a request of another session, for a caller whose own transaction or snapshot cannot. Error 42501 unless the '
'signature is valid. request: enter or cancel runs; unfinished (those of the given runs that are not over), progress (the '
'result of the function, payload: object with its parameters), make_table_reader (payload: the oid of the owner), is_served '
'(whether a worker executes runs), why_unserved (the result of the function) or rows (of runs; null if there are none; '
'payload: object with the parameters of rows_in_json).';
grant execute on function pgclarify_private.answer_loopback(text, jsonb, bytea) to pgclarify_loopback;

create or replace function pgclarify_private.remote_rows(
    row_type text, ids bigint[], requester name, include text default null
)
returns jsonb
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.loopback_call(
        'rows',
        jsonb_build_object(
            'row_type', remote_rows.row_type, 'ids', remote_rows.ids, 'requester', remote_rows.requester,
            'include', remote_rows.include
        )
    );
end;

comment on function pgclarify_private.remote_rows(text, bigint[], name, text) is
'The result of rows_in_json on a second connection, whose snapshot is new.';

create or replace function pgclarify_private.current_outcomes(run_ids bigint[])
returns setof pgclarify.run_outcome
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_out_of_sight(current_outcomes.run_ids) then
        return query
        select seen.*
        from jsonb_populate_recordset(
            null::pgclarify.run_outcome,
            pgclarify_private.remote_rows('run_outcome', current_outcomes.run_ids, null)
        ) as seen;
    else
        return query select seen.* from pgclarify_private.run_outcome_rows(current_outcomes.run_ids, null) as seen;
    end if;
end
$$;

comment on function pgclarify_private.current_outcomes(bigint[]) is
'What run_outcome_rows returns for runs that are over, even if the snapshot of this transaction is too old to show '
'their end.';

create or replace function pgclarify_private.current_clarifications(
    run_ids bigint[], requester name, include text default null
)
returns setof pgclarify.clarification
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_out_of_sight(current_clarifications.run_ids) then
        return query
        select seen.*
        from jsonb_populate_recordset(
            null::pgclarify.clarification,
            pgclarify_private.remote_rows(
                'clarification', current_clarifications.run_ids, current_clarifications.requester,
                current_clarifications.include
            )
        ) as seen;
    else
        return query
        select seen.*
        from pgclarify_private.clarification_rows(
            current_clarifications.run_ids, current_clarifications.requester, current_clarifications.include
        ) as seen;
    end if;
end
$$;

comment on function pgclarify_private.current_clarifications(bigint[], name, text) is
'What clarification_rows returns for runs that are over, even if the snapshot of this transaction is too old to show '
'their end.';

create or replace function pgclarify_private.current_search_results(run_ids bigint[], requester name)
returns setof pgclarify.search_result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_out_of_sight(current_search_results.run_ids) then
        return query
        select seen.*
        from jsonb_populate_recordset(
            null::pgclarify.search_result,
            pgclarify_private.remote_rows('search_result', current_search_results.run_ids, current_search_results.requester)
        ) as seen;
    else
        return query select seen.* from pgclarify_private.search_result_rows(current_search_results.run_ids, current_search_results.requester) as seen;
    end if;
end
$$;

comment on function pgclarify_private.current_search_results(bigint[], name) is
'What search_result_rows returns for runs that are over, even if the snapshot of this transaction is too old to show '
'their end.';
