-- Dialogues: functions with which workers store what they find out about a question.

create or replace function pgclarify_private.match_ambiguity_rules(run_id bigint, attempt integer, questions text[])
returns table (ordinal integer, ambiguity_rule_id bigint, kind text, note text, matched text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 10
as $$
declare
    v_longest_match constant integer := 100;
    -- regexp_substr finds all matches before it returns the first, in quadratic time.
    v_most_searched constant integer := 500;
    v_run pgclarify_private.run := pgclarify_private.running_attempt(match_ambiguity_rules.run_id, match_ambiguity_rules.attempt);
    v_limit constant interval := current_setting('statement_timeout')::interval;
    v_rule record;
    v_began timestamptz;
    v_took interval;
    v_slowest_id bigint;
    v_slowest_took interval;
begin
    if v_run.corpus_name is not null then
        perform pgclarify_private.check_searchable(v_run);
    end if;
    for v_rule in
        select rule.ambiguity_rule_id, rule.pattern, rule.kind, rule.note
        from pgclarify_private.ambiguity_rule as rule
        where
            rule.corpus is null
            or rule.corpus = (select corpus.name from pgclarify_private.corpus where corpus.corpus_id = v_run.corpus_id)
        order by rule.ambiguity_rule_id
    loop
        v_began := clock_timestamp();
        -- One rule after another, so that each is compiled once: a session caches only a few.
        return query
        select
            asked.ordinal::integer,
            v_rule.ambiguity_rule_id,
            v_rule.kind,
            v_rule.note,
            coalesce(
                left(regexp_substr(left(asked.question, v_most_searched), v_rule.pattern, 1, 1, 'i'), v_longest_match), ''
            )
        from unnest(match_ambiguity_rules.questions) with ordinality as asked (question, ordinal)
        where asked.question ~* v_rule.pattern;
        v_took := clock_timestamp() - v_began;
        if v_slowest_took is null or v_took > v_slowest_took then
            v_slowest_id := v_rule.ambiguity_rule_id;
            v_slowest_took := v_took;
        end if;
    end loop;
exception
    when query_canceled then
        -- A user cancelled the statement, not the time limit; the limit starts a moment earlier.
        if v_began is null or v_limit = interval '0' or clock_timestamp() < statement_timestamp() + 0.9 * v_limit then
            raise;
        end if;
        v_took := clock_timestamp() - v_began;
        if v_slowest_took is null or v_took > v_slowest_took then
            v_slowest_id := v_rule.ambiguity_rule_id;
            v_slowest_took := v_took;
        end if;
        raise exception 'rules of ambiguity could not be tried within %', current_setting('statement_timeout')
            using errcode = 'program_limit_exceeded',
                detail = format(
                    'The slowest is rule %s, which took %s seconds: simplify or delete it.',
                    v_slowest_id, round(extract(epoch from v_slowest_took), 1)
                ),
                hint = format('See: select * from pgclarify.ambiguity_rule where ambiguity_rule_id = %s.', v_slowest_id);
end
$$;

comment on function pgclarify_private.match_ambiguity_rules(bigint, integer, text[]) is
'Rules of ambiguity that questions match: those for all corpora, and those for the corpus of the run. One row for each '
'match, by rule, then by question. matched: the first words of the question that match, cut to 100 characters; empty if they '
'are not among its first 500 characters. Error 54000 with the slowest rule if they take longer than statement_timeout.';
grant execute on function pgclarify_private.match_ambiguity_rules(bigint, integer, text[]) to pgclarify_worker;

create or replace function pgclarify_private.record_detections(run_id bigint, attempt integer, detections jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_detections.run_id, record_detections.attempt);
begin
    delete from pgclarify_private.detection as earlier where earlier.run_id = v_run.run_id;
    insert into pgclarify_private.detection
    select found.*
    from jsonb_array_elements(record_detections.detections) with ordinality as given (value, ordinal)
    cross join lateral jsonb_populate_record(
        null::pgclarify_private.detection,
        given.value || jsonb_build_object('run_id', v_run.run_id, 'ordinal', given.ordinal)
    ) as found;
end
$$;

comment on function pgclarify_private.record_detections(bigint, integer, jsonb) is
'Store the judgements of the questions of a run, instead of existing ones. detections: array of objects with the columns of '
'table detection, in the order of the questions.';
grant execute on function pgclarify_private.record_detections(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_route(run_id bigint, attempt integer, route text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pgclarify_private.lock_run(record_route.run_id, record_route.attempt);
    update pgclarify_private.run
    set route = record_route.route
    where run.run_id = record_route.run_id;
end
$$;

comment on function pgclarify_private.record_route(bigint, integer, text) is 'Store the route that a run took.';
grant execute on function pgclarify_private.record_route(bigint, integer, text) to pgclarify_worker;

create or replace function pgclarify_private.record_rewriting(run_id bigint, attempt integer, rewriting jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_rewriting.run_id, record_rewriting.attempt);
begin
    insert into pgclarify_private.rewriting (run_id, rewritten, was_ambiguous, reason)
    select v_run.run_id, given.rewritten, given.was_ambiguous, given.reason
    from jsonb_to_record(record_rewriting.rewriting) as given (rewritten text, was_ambiguous boolean, reason text)
    on conflict on constraint rewriting_pk do update
    set rewritten = excluded.rewritten, was_ambiguous = excluded.was_ambiguous, reason = excluded.reason;
end
$$;

comment on function pgclarify_private.record_rewriting(bigint, integer, jsonb) is
'Store the rewritten question of a run, instead of an existing one. rewriting: object with rewritten, was_ambiguous and '
'reason.';
grant execute on function pgclarify_private.record_rewriting(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_clarifying_questions(run_id bigint, attempt integer, questions jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(
        record_clarifying_questions.run_id, record_clarifying_questions.attempt
    );
begin
    delete from pgclarify_private.clarifying_question as earlier where earlier.run_id = v_run.run_id;
    delete from pgclarify_private.citation as earlier where earlier.run_id = v_run.run_id;
    insert into pgclarify_private.clarifying_question (
        run_id, ordinal, ambiguity_type, reasoning, clarifying_question, reformulation, is_answerable
    )
    select
        v_run.run_id, checked.ordinal, proposed.ambiguity_type, proposed.reasoning, proposed.clarifying_question,
        proposed.reformulation, checked.is_answerable
    from jsonb_to_recordset(record_clarifying_questions.questions) as checked (
        ordinal integer, proposed jsonb, is_answerable boolean
    )
    cross join lateral jsonb_to_record(checked.proposed) as proposed (
        ambiguity_type text, reasoning text, clarifying_question text, reformulation text
    );
    perform pgclarify_private.record_citations(v_run.run_id, record_clarifying_questions.questions);
end
$$;

comment on function pgclarify_private.record_clarifying_questions(bigint, integer, jsonb) is
'Store what to ask back, with its evidence, instead of what is there. questions: array of objects with ordinal, proposed '
'(ambiguity_type, reasoning, clarifying_question, reformulation), is_answerable and citations (candidate_rank, quote, '
'start_char, end_char).';
grant execute on function pgclarify_private.record_clarifying_questions(bigint, integer, jsonb) to pgclarify_worker;

create or replace function pgclarify_private.record_answers(run_id bigint, attempt integer, answers jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := pgclarify_private.lock_run(record_answers.run_id, record_answers.attempt);
begin
    -- A worker sends answers again if it does not know whether they were stored.
    if exists (select from pgclarify_private.listed_answer as earlier where earlier.run_id = v_run.run_id) then
        return;
    end if;
    insert into pgclarify_private.listed_answer (run_id, ordinal, answer, variants)
    select
        v_run.run_id,
        (listed.answer -> 'ordinal')::integer,
        listed.answer ->> 'answer',
        array(select jsonb_array_elements_text(listed.answer -> 'variants'))
    from jsonb_array_elements(record_answers.answers) as listed (answer);
    perform pgclarify_private.record_citations(v_run.run_id, record_answers.answers);
end
$$;

comment on function pgclarify_private.record_answers(bigint, integer, jsonb) is
'Store all answers of a run with their evidence. answers: array of objects with ordinal, answer, variants and citations '
'(candidate_rank, quote, start_char, end_char), in order.';
grant execute on function pgclarify_private.record_answers(bigint, integer, jsonb) to pgclarify_worker;
