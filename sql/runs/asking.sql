-- Asking. An earlier run with the same question is reused if possible; otherwise a new run is entered, with or without waiting
-- for it.

create or replace function pgclarify_private.raise_other_number_of_filters(filters integer, questions integer)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'there must be as many filters as questions'
        using errcode = 'invalid_parameter_value',
            column = 'filters',
            detail = format(
                'Filters: %s. Questions: %s.', raise_other_number_of_filters.filters, raise_other_number_of_filters.questions
            ),
            hint = 'Aggregate both from the same rows in the same order, with null for a question without a filter.';
end
$$;

comment on function pgclarify_private.raise_other_number_of_filters(integer, integer) is 'Error 22023 about their numbers.';

create or replace function pgclarify_private.asked_pairs(questions text[], settings jsonb)
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
    if not asked_pairs.settings ? 'filters' then
        return asked_pairs.questions;
    end if;
    if jsonb_array_length(asked_pairs.settings -> 'filters') <> cardinality(asked_pairs.questions) then
        perform pgclarify_private.raise_other_number_of_filters(
            jsonb_array_length(asked_pairs.settings -> 'filters'), cardinality(asked_pairs.questions)
        );
    end if;
    return array(
        select jsonb_build_array(asked.question, given.filter)::text
        from unnest(asked_pairs.questions) with ordinality as asked (question, ordinal)
        inner join jsonb_array_elements(asked_pairs.settings -> 'filters') with ordinality as given (filter, ordinal)
            on asked.ordinal = given.ordinal
        order by asked.ordinal
    );
end
$$;

comment on function pgclarify_private.asked_pairs(text[], jsonb) is
'What is asked, in order: the questions, or, if each has a filter of its own, the JSON array of the question and its filter, '
'which enter_runs reads. Error 22023 if their numbers differ.';

create or replace function pgclarify_private.serve_again(
    run pgclarify_private.run, questions text[], requester name, roles name[]
)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_answered jsonb := '{}';
begin
    -- Runs that continue another run are always executed, and questions with filters: see find_reusable_runs.
    if
        pgclarify_private.is_on('pgclarify.reuse_runs', true)
        and (serve_again.run).parent_run_id is null
        and not (serve_again.run).settings ? 'filters'
    then
        select coalesce(jsonb_object_agg(answered.question, answered.run_id), '{}') into v_answered
        from pgclarify_private.find_reusable_runs(
            (serve_again.run).corpus_id,
            (serve_again.run).operation,
            pgclarify_private.not_served(serve_again.questions, '{}'),
            pgclarify_private.without_ids((serve_again.run).settings),
            serve_again.requester,
            serve_again.roles
        ) as answered;
        perform pgclarify_private.note_served(v_answered);
    end if;
    return v_answered;
end
$$;

comment on function pgclarify_private.serve_again(pgclarify_private.run, text[], name, name[]) is
'Find finished runs that these questions can reuse, and note each reuse: object of questions, each with its run. Nothing is '
'reused if pgclarify.reuse_runs is off.';

create or replace function pgclarify_private.not_served(questions text[], answered jsonb)
returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        array(
            select given.question
            from unnest(not_served.questions) with ordinality as given (question, ordinal)
            where not not_served.answered ? given.question
            group by given.question
            order by min(given.ordinal)
        );
end;

comment on function pgclarify_private.not_served(text[], jsonb) is
'Distinct questions that no earlier run answers, in the order of their first occurrence. answered: object with the others.';

create or replace function pgclarify_private.runs_of(
    questions text[], answered jsonb, entered_questions text[], run_ids bigint[]
)
returns bigint[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        array(
            select coalesce((runs_of.answered ->> given.question)::bigint, entered.run_id)
            from unnest(runs_of.questions) with ordinality as given (question, ordinal)
            left join unnest(runs_of.entered_questions, runs_of.run_ids) as entered (question, run_id)
                on entered.question = given.question
            order by given.ordinal
        );
end;

comment on function pgclarify_private.runs_of(text[], jsonb, text[], bigint[]) is
'The run of each question, in order: a reused one, or one that was entered for it.';

create or replace function pgclarify_private.submit(
    caller pgclarify_private.caller, run pgclarify_private.run, questions text[]
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := (submit.caller).name;
    v_roles constant name[] := pgclarify_private.roles_of(v_requester);
    v_asked constant text[] := pgclarify_private.asked_pairs(submit.questions, (submit.run).settings);
    v_answered constant jsonb := pgclarify_private.serve_again(submit.run, v_asked, v_requester, v_roles);
    v_new constant text[] := pgclarify_private.not_served(v_asked, v_answered);
    v_entered bigint[] := '{}';
begin
    if cardinality(v_new) > 0 then
        if (submit.run).corpus_id is not null then
            -- enter_runs enters nothing for a corpus that was dropped since the run was prepared.
            perform pgclarify_private.lock_corpus((submit.run).corpus_id);
        end if;
        v_entered := pgclarify_private.enter_runs(
            v_requester, (submit.caller).login, v_roles, (submit.run).operation, (submit.run).corpus_id, v_new,
            (submit.run).settings - 'timeout', (submit.run).parent_run_id, null
        );
    end if;
    return pgclarify_private.runs_of(v_asked, v_answered, v_new, v_entered);
end
$$;

comment on function pgclarify_private.submit(pgclarify_private.caller, pgclarify_private.run, text[]) is
'Enter a new run for each question without waiting: the run of each, in order. Earlier answers that are still valid are '
'reused unless pgclarify.reuse_runs is off; equal questions are asked once.';

create or replace function pgclarify_private.enter_when_free(payload jsonb, corpus_id bigint, deadline timestamptz)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_pause double precision := 0.05;
    v_has_waited boolean := false;
    v_has_lock boolean := false;
    v_entered jsonb;
    v_message text;
    v_detail text;
    v_hint text;
begin
    loop
        begin
            if v_has_waited and not current_setting('transaction_read_only')::boolean then
                -- With this lock, no other transaction can lock the corpus against loopback_enter. So if loopback_enter finds
                -- it locked, this transaction has locked it.
                begin
                    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = enter_when_free.corpus_id for key share skip locked;
                    v_has_lock := found;
                exception
                    -- Another transaction has changed it since the snapshot of this one.
                    when serialization_failure then
                        v_has_lock := false;
                end;
            end if;
            v_entered := pgclarify_private.loopback_call('enter', enter_when_free.payload);
            -- This releases the lock.
            raise exception 'entered' using errcode = 'PC099';
        exception
            when sqlstate 'PC099' then
                return v_entered;
            when sqlstate 'PC004' then
                -- It was locked, so it had been committed.
                if v_has_waited then
                    raise exception 'corpus "%" does not exist', enter_when_free.payload ->> 'corpus'
                        using errcode = 'undefined_object',
                            detail = 'It was dropped while this call waited for it.',
                            hint = 'The corpora that you can search: select corpus from pgclarify.corpus.';
                end if;
                raise;
            when sqlstate 'PC098' then
                get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
                if v_has_lock then
                    raise exception 'the corpus is locked by this transaction'
                        using errcode = 'PC004',
                            detail = 'An earlier statement of it has locked the corpus, so no question can be entered.',
                            hint = 'Commit first, then ask.';
                end if;
                if clock_timestamp() >= enter_when_free.deadline then
                    raise exception using
                        errcode = 'lock_not_available', message = v_message, detail = v_detail, hint = v_hint;
                end if;
            when lock_not_available then
                raise exception 'another transaction locks a table of pgclarify'
                    using errcode = 'lock_not_available',
                        detail = 'The question could not be entered within 5 seconds.',
                        hint = 'Ask again when that transaction has ended: pgclarify init, for example, or a new index.';
        end;
        v_has_waited := true;
        perform pg_sleep(v_pause * (0.5 + random()));
        v_pause := least(v_pause * 1.5, 1);
    end loop;
end
$$;

comment on function pgclarify_private.enter_when_free(jsonb, bigint, timestamptz) is
'Call loopback_enter with this payload, again and again while another transaction locks the corpus. Error 55P03 after the '
'deadline, PC004 if this transaction itself has locked the corpus, 42704 if it was dropped meanwhile.';

create or replace function pgclarify_private.ask(
    caller pgclarify_private.caller, run pgclarify_private.run, questions text[], timeout interval
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := (ask.caller).name;
    v_roles constant name[] := pgclarify_private.roles_of(v_requester);
    v_deadline constant timestamptz := pgclarify_private.deadline(ask.timeout);
    v_call_id constant uuid := gen_random_uuid();
    v_asked constant text[] := pgclarify_private.asked_pairs(ask.questions, (ask.run).settings);
    v_answered constant jsonb := pgclarify_private.serve_again(ask.run, v_asked, v_requester, v_roles);
    v_new constant text[] := pgclarify_private.not_served(v_asked, v_answered);
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
    v_continues boolean;
    v_unfinished bigint[];
    v_documents bigint;
    v_cause text;
begin
    if cardinality(v_new) > 0 then
        v_payload := jsonb_build_object(
            'call_id', v_call_id,
            'requester', v_requester,
            'requester_oid', pgclarify_private.role_oid(v_requester)::text,
            -- On the second connection, session_user is pgclarify_loopback.
            'login', (ask.caller).login,
            'roles', v_roles,
            'operation', (ask.run).operation,
            'corpus_id', (ask.run).corpus_id,
            'corpus', (select corpus.name from pgclarify_private.living_corpus as corpus where corpus.corpus_id = (ask.run).corpus_id),
            'questions', v_new,
            'settings', (ask.run).settings - 'timeout' || case
                when (ask.run).settings ? 'filters' then '{"filters": true}'::jsonb else '{}' end,
            'parent_run_id', (ask.run).parent_run_id,
            'is_counted', pgclarify_private.is_on('pgclarify.count_questions', true),
            'traceparent', pgclarify_private.current_traceparent(),
            -- A new session needs milliseconds to find that out. A standby does not know which workers have ended.
            'is_served', not pg_is_in_recovery() and exists (select from pgclarify_private.serving_workers())
        );
        begin
            -- In two statements: an error shows the statement that raised it.
            v_answer := pgclarify_private.enter_when_free(v_payload, (ask.run).corpus_id, v_deadline);
            v_entered := array(
                select entered.value::bigint
                from jsonb_array_elements_text(v_answer) with ordinality as entered (value, ordinal)
                order by entered.ordinal
            );
            -- The run keeps its priority while this session waits: not after the timeout, nor if the session is terminated.
            if cardinality(v_entered) = 1 then
                perform pgclarify_private.watch_run(v_entered[1]);
            end if;
            v_unfinished := pgclarify_private.await(v_entered, v_deadline);
            perform pgclarify_private.watch_run(null);
        exception
            when query_canceled or others then
                get stacked diagnostics
                    v_state = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail,
                    v_hint = pg_exception_hint, v_table = table_name, v_column = column_name, v_values = pg_datatype_name;
                -- Nothing was entered, or it continues when a worker is running again.
                v_continues := v_state in ('PC001', 'PC004', 'PC005') or v_state = '55P03' and cardinality(v_entered) = 0;
                if not v_continues then
                    -- The caller has stopped waiting, so its runs must not cost more. This cancels by the id of the call,
                    -- because the call may not know the ids of its runs yet.
                    begin
                        perform pgclarify_private.loopback_call('cancel', jsonb_build_object('call_id', v_call_id));
                    exception
                        when query_canceled or others then
                            null;
                    end;
                end if;
                perform pgclarify_private.watch_run(null);
                if not v_continues then
                    raise;
                end if;
                if v_state = 'PC005' and cardinality(v_entered) > 0 then
                    -- The loopback worked for entering the runs, and failed while this call waited for them.
                    v_table := 'run';
                    v_column := 'run_id';
                    v_values := array_to_string(v_entered, ',');
                    v_detail := format('%s. %s', pgclarify_private.list_runs(v_entered), v_detail);
                    v_hint := format(
                        'Wait in a new transaction with: select * from pgclarify.wait(array[%s]). ',
                        array_to_string(v_entered[:100], ', ')
                    ) || pgclarify_private.reading_hint((ask.run).operation, v_entered[1]);
                end if;
                -- Raise it again, because the context of the loopback does not help the caller.
                raise exception
                    using errcode = v_state, message = v_message, detail = v_detail, hint = v_hint, table = v_table,
                        column = v_column, datatype = v_values;
        end;
        if cardinality(v_unfinished) > 0 then
            if pgclarify_private.searches((ask.run).operation) then
                v_documents := pgclarify_private.documents_to_wait_for((ask.run).corpus_id);
            end if;
            v_cause := pgclarify_private.why_unserved_now();
            raise exception '%', case
                    when v_documents is null then format('the answer did not come within %s', ask.timeout)
                    when v_documents = 0 then 'the corpus is not indexed yet: a table is being loaded'
                    when v_documents = 1 then 'the corpus is not indexed yet: 1 document waits'
                    else format('the corpus is not indexed yet: %s documents wait', v_documents)
                end
                using errcode = case when v_documents is null then 'PC002' else 'PC018' end,
                    table = 'run', column = 'run_id', datatype = array_to_string(v_unfinished, ','),
                    detail = format('%s.', pgclarify_private.list_runs(v_unfinished))
                    || coalesce(format(' Workers: %s.', v_cause), ''),
                    hint = case
                        when v_cause is not null
                            then 'Start one of this version with: pgclarify worker (or pgclarify up for the embedded server). '
                        else ''
                    end
                    || format(
                        'Wait with: select * from pgclarify.wait(array[%s]). ',
                        array_to_string(v_unfinished[:100], ', ')
                    ) || pgclarify_private.reading_hint((ask.run).operation, v_unfinished[1]);
        end if;
    end if;
    return pgclarify_private.runs_of(v_asked, v_answered, v_new, v_entered);
end
$$;

comment on function pgclarify_private.ask(pgclarify_private.caller, pgclarify_private.run, text[], interval) is
'Enter a new run for each question and wait: the run of each, in order. Earlier answers that are still valid are reused '
'unless pgclarify.reuse_runs is off; equal questions are asked once. A cancelled call cancels its runs. After the timeout, '
'the runs continue with the priority of submitted runs, and error PC002 lists them, or PC018 if the corpus is not indexed yet.';

create or replace function pgclarify_private.ask_one(
    caller pgclarify_private.caller, run pgclarify_private.run, timeout interval
)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run_ids bigint[];
begin
    v_run_ids := pgclarify_private.ask(ask_one.caller, ask_one.run, array[(ask_one.run).question], ask_one.timeout);
    -- The command line explains an empty result, whose rows do not name the run.
    perform set_config('pgclarify.asked_run', v_run_ids[1]::text, true);
    perform pgclarify_private.raise_unless_succeeded(seen)
    from pgclarify_private.current_outcomes(v_run_ids) as seen;
    return v_run_ids;
end
$$;

comment on function pgclarify_private.ask_one(pgclarify_private.caller, pgclarify_private.run, interval) is
'Enter one new run and wait for it. Returns the run, with the errors and warnings of raise_unless_succeeded. Until the '
'transaction ends, setting pgclarify.asked_run is its id.';
