-- Detecting ambiguous questions.

create or replace view pgclarify.ambiguity_detection as
select
    detection.run_id,
    run.operation,
    run.corpus_name || '' as corpus,
    detection.ordinal,
    detection.question || '' as question,
    detection.is_ambiguous,
    detection.probability,
    detection.kind,
    (
        select string_agg(reason.value ->> 'text', '; ' order by reason.ordinal)
        from jsonb_array_elements(detection.reasons) with ordinality as reason (value, ordinal)
    ) as reasons,
    detection.classifier_version || '' as classifier_version,
    run.finished_at
from pgclarify_private.detection
inner join pgclarify_private.run on detection.run_id = run.run_id;

comment on view pgclarify.ambiguity_detection is
'Questions with their judgement, ambiguous or clear, and the reasons: from detect_ambiguity, detect_ambiguity_many, rewrite, '
'and clarify with option ask_back.';
comment on column pgclarify.ambiguity_detection.run_id is 'The run.';
comment on column pgclarify.ambiguity_detection.operation is
'detect_ambiguity, detect_ambiguity_many, rewrite or clarify.';
comment on column pgclarify.ambiguity_detection.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.ambiguity_detection.ordinal is 'Place of the question in the run, from 1.';
comment on column pgclarify.ambiguity_detection.question is 'The question.';
comment on column pgclarify.ambiguity_detection.is_ambiguous is
'True if the probability reaches the threshold of the run, or a rule says so.';
comment on column pgclarify.ambiguity_detection.probability is
'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.ambiguity_detection.kind is
'pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or lexical (a name or '
'word with several meanings); null unless ambiguous.';
comment on column pgclarify.ambiguity_detection.reasons is
'The reasons, in words, separated by semicolons; null if there are none. Table detection has them one by one.';
comment on column pgclarify.ambiguity_detection.classifier_version is 'Version of the classifier.';
comment on column pgclarify.ambiguity_detection.finished_at is 'When the run ended; null before.';
grant select on pgclarify.ambiguity_detection to pgclarify_reader;

create or replace function pgclarify_private.detection_settings(options jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb := pgclarify_private.check_options(
        detection_settings.options,
        '{
            "corpus": {"type": "string", "longest": 200},
            "threshold": {"type": "number", "least": 0, "most": 1},
            "top_k": {"type": "integer", "least": 0, "most": 100},
            "timeout": {"type": "string", "default": "60s"}
        }'
    );
begin
    if v_settings ? 'corpus' then
        return '{"top_k": 8}'::jsonb || v_settings;
    end if;
    if v_settings ? 'top_k' then
        raise exception 'option "top_k" needs a corpus'
            using errcode = 'invalid_parameter_value',
                column = 'top_k',
                detail = 'Without a corpus, there are no passages to judge.',
                hint = 'Also pass {"corpus": "name"}, or omit top_k.';
    end if;
    return v_settings;
end
$$;

comment on function pgclarify_private.detection_settings(jsonb) is
'Checked options of detect_ambiguity, in the form of run.settings, with corpus and timeout.';

create or replace function pgclarify_private.rows(row_type pgclarify.ambiguity, run_ids bigint[], requester name)
returns setof pgclarify.ambiguity
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        detection.run_id, detection.is_ambiguous, detection.probability, detection.kind,
        pgclarify_private.readable_reasons(
            detection.reasons, run.corpus_id, pgclarify_private.roles_of(rows.requester)
        )
    from pgclarify_private.detection
    inner join pgclarify_private.run on detection.run_id = run.run_id
    where detection.run_id = any(rows.run_ids)
    order by detection.run_id, detection.ordinal;
end;

comment on function pgclarify_private.rows(pgclarify.ambiguity, bigint[], name) is
'Results of runs of detect_ambiguity. It does not check who may see them; reasons quote only documents that the requester may '
'read now.';

create or replace function pgclarify_private.corpus_of_settings(caller pgclarify_private.caller, settings jsonb)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        (
            pgclarify_private.find_corpus(
                pgclarify_private.roles_of(pgclarify_private.verify_caller(corpus_of_settings.caller)),
                corpus_of_settings.settings ->> 'corpus'
            )
        ).corpus_id
    where corpus_of_settings.settings ? 'corpus';
end;

comment on function pgclarify_private.corpus_of_settings(pgclarify_private.caller, jsonb) is
'The corpus that checked options name; null if they name none, even if there is a default. Error 42704 if the caller may not '
'search it.';

create or replace function pgclarify_private.prepare_detect_ambiguity(
    caller pgclarify_private.caller, question text, history text[] default '{}', options jsonb default '{}'
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions constant text[] := pgclarify_private.check_questions(array[prepare_detect_ambiguity.question]);
    v_history constant jsonb := pgclarify_private.check_history(prepare_detect_ambiguity.history);
    v_settings constant jsonb := pgclarify_private.detection_settings(prepare_detect_ambiguity.options);
begin
    return pgclarify_private.new_run(
        'detect_ambiguity', pgclarify_private.corpus_of_settings(prepare_detect_ambiguity.caller, v_settings), v_questions[1],
        v_settings - 'corpus', v_history
    );
end
$$;

comment on function pgclarify_private.prepare_detect_ambiguity(pgclarify_private.caller, text, text[], jsonb) is
'The run that detect_ambiguity enters.';

create or replace function pgclarify.detect_ambiguity(
    question text, history text[] default '{}', options jsonb default '{}'
)
returns setof pgclarify.ambiguity
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.ambiguity,
        pgclarify_private.start_and_wait(
            caller,
            'detect_ambiguity',
            jsonb_build_object(
                'question', detect_ambiguity.question, 'history', detect_ambiguity.history,
                'options', detect_ambiguity.options
            )
        )
    ) as seen;
end;

comment on function pgclarify.detect_ambiguity(text, text[], jsonb) is
'Whether a question is ambiguous, and why: one row. It needs no language model. question: 1 to 10,000 characters. history: '
'earlier turns, oldest first, one element for each turn. options: threshold (a question is ambiguous if its probability is at '
'least this, 0 to 1; the classifier''s own), corpus (uses its rules and its classifier, and counts the readings that it '
'supports), top_k (passages to judge there, 8; 0 counts no readings), timeout (60s).';
grant execute on function pgclarify.detect_ambiguity(text, text[], jsonb) to pgclarify_user;

create or replace function pgclarify_private.rows(row_type pgclarify.question_ambiguity, run_ids bigint[], requester name)
returns setof pgclarify.question_ambiguity
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        (row_number() over (order by asked.ordinal, detection.ordinal))::integer,
        detection.question,
        detection.run_id,
        detection.is_ambiguous,
        detection.probability,
        detection.kind,
        detection.reasons,
        run.status
    from unnest(rows.run_ids) with ordinality as asked (run_id, ordinal)
    inner join pgclarify_private.run on asked.run_id = run.run_id
    inner join pgclarify_private.detection on run.run_id = detection.run_id
    where run.status = 'succeeded'
    order by asked.ordinal, detection.ordinal;
end;

comment on function pgclarify_private.rows(pgclarify.question_ambiguity, bigint[], name) is
'Results of succeeded runs of detect_ambiguity_many, in order. It does not check who may see them: the requester makes no '
'difference. question_ordinal continues over all runs.';

create or replace function pgclarify_private.questions_of_a_run()
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select 500;
end;

comment on function pgclarify_private.questions_of_a_run() is
'Maximum number of questions in a run of detect_ambiguity_many: small, so that other runs get a turn, but large enough that '
'the overhead of a run is negligible.';

create or replace function pgclarify_private.detect_many_settings(options jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        pgclarify_private.check_options(
            detect_many_settings.options,
            '{
                "corpus": {"type": "string", "longest": 200},
                "threshold": {"type": "number", "least": 0, "most": 1},
                "timeout": {"type": "string"}
            }'
        );
end;

comment on function pgclarify_private.detect_many_settings(jsonb) is
'Checked options of detect_ambiguity_many, in the form of run.settings, with corpus and timeout.';

create or replace function pgclarify_private.prepare_detect_ambiguity_many(
    caller pgclarify_private.caller, questions text[], options jsonb default '{}'
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_questions constant text[] := pgclarify_private.once_each(
        pgclarify_private.check_questions(prepare_detect_ambiguity_many.questions)
    );
    v_settings constant jsonb := pgclarify_private.detect_many_settings(prepare_detect_ambiguity_many.options);
begin
    if cardinality(v_questions) > pgclarify_private.questions_of_a_run() then
        raise exception 'a run has % questions at most', pgclarify_private.questions_of_a_run()
            using errcode = 'invalid_parameter_value',
                detail = format('There are %s different ones.', cardinality(v_questions)),
                hint = 'Start several runs, or call pgclarify.detect_ambiguity_many, which does that.';
    end if;
    return pgclarify_private.new_run(
        'detect_ambiguity_many',
        pgclarify_private.corpus_of_settings(prepare_detect_ambiguity_many.caller, v_settings),
        to_jsonb(v_questions)::text,
        v_settings - 'corpus'
    );
end
$$;

comment on function pgclarify_private.prepare_detect_ambiguity_many(pgclarify_private.caller, text[], jsonb) is
'The run that detects ambiguity in these questions, equal ones once; error 22023 if there are too many for one run.';

create or replace function pgclarify_private.questions_at_once()
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select 50000;
end;

comment on function pgclarify_private.questions_at_once() is
'How many questions of detect_ambiguity_many are entered, awaited and read together. So no payload grows with their number.';

create or replace function pgclarify_private.raise_many_timed_out(
    timeout interval,
    questions integer,
    done integer,
    in_hand integer,
    first_run_id bigint,
    detail text,
    hint text,
    in_hand_ids text
)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'the answers did not come within %', raise_many_timed_out.timeout
        using errcode = 'PC002',
            table = 'run', column = 'run_id', datatype = coalesce(raise_many_timed_out.in_hand_ids, ''),
            detail = concat_ws(
                ' ',
                format(
                    'Of %s questions, %s are done and %s in hand.', raise_many_timed_out.questions,
                    raise_many_timed_out.done, raise_many_timed_out.in_hand
                ),
                raise_many_timed_out.detail
            ),
            hint = concat_ws(
                ' ',
                raise_many_timed_out.hint,
                'What is done: select * from pgclarify.ambiguity_detection where operation = ''detect_ambiguity_many'' and '
                || 'run_id >= ' || raise_many_timed_out.first_run_id || ' order by run_id, ordinal.',
                'Ask again from question '
                || nullif(raise_many_timed_out.done + raise_many_timed_out.in_hand, raise_many_timed_out.questions) + 1
                || ' on.'
            );
end
$$;

comment on function pgclarify_private.raise_many_timed_out(interval, integer, integer, integer, bigint, text, text, text) is
'Error PC002: how many questions of detect_ambiguity_many are done, how to read them, and where to continue. first_run_id: '
'the first finished run; null if there is none. detail, hint, in_hand_ids (run ids with commas): of the unfinished runs; '
'null if there are none.';

create or replace function pgclarify_private.detect_ambiguity_many(
    caller pgclarify_private.caller, questions text[], options jsonb
)
returns setof pgclarify.question_ambiguity
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_chunk constant integer := pgclarify_private.questions_of_a_run();
    v_wave constant integer := pgclarify_private.questions_at_once();
    v_questions text[] := pgclarify_private.check_questions(detect_ambiguity_many.questions);
    v_total constant integer := cardinality(v_questions);
    v_settings constant jsonb := pgclarify_private.detect_many_settings(detect_ambiguity_many.options);
    -- The question of each run is a chunk of the questions.
    v_run constant pgclarify_private.run := pgclarify_private.new_run(
        'detect_ambiguity_many',
        pgclarify_private.corpus_of_settings(detect_ambiguity_many.caller, v_settings),
        null,
        v_settings - 'corpus'
    );
    v_timeout interval := case when v_settings ? 'timeout' then pgclarify_private.timeout(v_settings ->> 'timeout') end;
    v_deadline timestamptz := pgclarify_private.deadline(v_timeout);
    v_done integer := 0;
    v_asked text[];
    v_distinct text[];
    v_chunks text[];
    v_left interval;
    v_run_ids bigint[];
    v_first_run_id bigint;
    v_detail text;
    v_hint text;
    v_in_hand_ids text;
begin
    while v_done < v_total loop
        if v_done > 0 and clock_timestamp() >= v_deadline then
            perform pgclarify_private.raise_many_timed_out(v_timeout, v_total, v_done, 0, v_first_run_id, null, null, null);
        end if;
        v_asked := v_questions[v_done + 1:v_done + v_wave];
        v_distinct := pgclarify_private.once_each(v_asked);
        v_chunks := array(
            select jsonb_agg(given.question order by given.ordinal)::text
            from unnest(v_distinct) with ordinality as given (question, ordinal)
            group by (given.ordinal - 1) / v_chunk
            order by (given.ordinal - 1) / v_chunk
        );
        -- The first runs are always entered, even without time left, and they continue after the timeout.
        v_left := greatest(v_deadline - clock_timestamp(), interval '1 microsecond');
        begin
            v_run_ids := pgclarify_private.ask(detect_ambiguity_many.caller, v_run, v_chunks, v_left);
        exception
            when sqlstate 'PC002' then
                get stacked diagnostics
                    v_detail = pg_exception_detail, v_hint = pg_exception_hint, v_in_hand_ids = pg_datatype_name;
                perform pgclarify_private.raise_many_timed_out(
                    v_timeout, v_total, v_done, cardinality(v_asked), v_first_run_id, v_detail, v_hint, v_in_hand_ids
                );
        end;
        v_first_run_id := coalesce(v_first_run_id, v_run_ids[1]);
        return query
        with outcome as materialized (
            select seen.run_id, seen.status
            from pgclarify_private.current_rows(null::pgclarify.run_outcome, v_run_ids, null) as seen
        ),
        found as materialized (
            select seen.*
            from pgclarify_private.current_rows(
                null::pgclarify.question_ambiguity, v_run_ids, (detect_ambiguity_many.caller).name
            ) as seen
        )
        select
            v_done + asked.ordinal::integer, asked.question, outcome.run_id, found.is_ambiguous, found.probability,
            found.kind, found.reasons, outcome.status
        from unnest(v_asked) with ordinality as asked (question, ordinal)
        inner join unnest(v_distinct) with ordinality as given (question, ordinal) on given.question = asked.question
        inner join outcome on outcome.run_id = v_run_ids[(given.ordinal - 1) / v_chunk + 1]
        left join found on found.question = asked.question
        order by asked.ordinal;
        v_done := v_done + cardinality(v_asked);
    end loop;
end
$$;

comment on function pgclarify_private.detect_ambiguity_many(pgclarify_private.caller, text[], jsonb) is
'See detect_ambiguity_many.';
grant execute on function pgclarify_private.detect_ambiguity_many(pgclarify_private.caller, text[], jsonb) to pgclarify_user;

create or replace function pgclarify.detect_ambiguity_many(questions text[], options jsonb default '{}')
returns setof pgclarify.question_ambiguity
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.detect_ambiguity_many(
        caller, detect_ambiguity_many.questions, detect_ambiguity_many.options
    ) as seen;
end;

comment on function pgclarify.detect_ambiguity_many(text[], jsonb) is
'detect_ambiguity for many questions without a history, for example a log of searches: one row for each, in order; equal '
'ones among 50,000 are judged once. A question whose run failed or was cancelled has a row with that status. questions: each '
'1 to 10,000 characters. options: threshold (0 to 1; the classifier''s own), corpus (uses its rules and its classifier), '
'timeout (for all together; null waits without limit).';
grant execute on function pgclarify.detect_ambiguity_many(text[], jsonb) to pgclarify_user;
