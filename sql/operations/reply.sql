-- Replies to clarifying questions. A conversation is a chain of runs, each of which has the run before as its parent: a run of
-- reply answers a run of clarifying_questions, and another run of clarifying_questions may go on from that reply.

create or replace function pgclarify_private.turns_of(replied pgclarify_private.run, requester name)
returns table (history jsonb, question text, asked text[], reply text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
rows 3
begin atomic
    with recursive turn as (
        select 1 as age, (turns_of.replied).parent_run_id as asking_run_id, (turns_of.replied).settings ->> 'text' as reply
        union all
        select turn.age + 1, earlier.parent_run_id, earlier.settings ->> 'text'
        from turn
        inner join pgclarify_private.run as asking on turn.asking_run_id = asking.run_id
        inner join pgclarify_private.run as earlier on asking.parent_run_id = earlier.run_id
    )
    select
        first_value(asking.settings -> 'history') over (order by turn.age desc),
        first_value(asking.question) over (order by turn.age desc),
        array(
            select coalesce(listed.clarifying_question, listed.reformulation)
            from pgclarify_private.proposed_question_rows(array[asking.run_id], turns_of.requester) as listed
            order by listed.ordinal
        ),
        turn.reply
    from turn
    -- The first runs may have been deleted. The run that asked after them has their texts in its history.
    inner join pgclarify_private.run as asking on turn.asking_run_id = asking.run_id
    order by turn.age desc;
end;

comment on function pgclarify_private.turns_of(pgclarify_private.run, name) is
'The turns of a conversation up to a run of reply, in order. history, question: what was said before the first '
'question, null if nothing, and this question, in every row. asked: clarifying questions, or reformulations to choose from, '
'that the requester may read.';

create or replace function pgclarify_private.conversation_turns(run_id bigint, attempt integer)
returns table (question text, asked text[], reply text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
rows 3
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.running_attempt(
        conversation_turns.run_id, conversation_turns.attempt
    );
begin
    return query
    select turns.question, turns.asked, turns.reply
    from pgclarify_private.turns_of(v_run, v_run.requested_by) as turns;
    if not found then
        raise exception 'what run % replies to is gone', conversation_turns.run_id
            using errcode = 'undefined_object',
                detail = 'The run that asked back was deleted.',
                hint = 'End the run as failed.';
    end if;
end
$$;

comment on function pgclarify_private.conversation_turns(bigint, integer) is
'The turns of turns_of for a run of reply; the last one is the turn of the run. Error 42704 if the run that asked back was '
'deleted.';
grant execute on function pgclarify_private.conversation_turns(bigint, integer) to pgclarify_worker;

create or replace function pgclarify_private.prepare_reply(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run := prepare_reply.run;
    v_text text := btrim(prepare_reply.parameters ->> 'reply', E' \t\r\n\f\x0b');
    v_ordinal constant integer := (prepare_reply.parameters ->> 'ordinal')::integer;
    v_asking pgclarify_private.run;
    v_ordinals integer[];
begin
    if (v_text is null) = (v_ordinal is null) then
        raise exception 'pass either a reply or the ordinal of a reformulation'
            using errcode = 'invalid_parameter_value',
                hint = 'In words: reply(7, ''…''). A choice: reply(7, ordinal => 2).';
    end if;
    if length(v_text) not between 1 and 10000 then
        raise exception 'a reply needs 1 to 10000 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', length(v_text)),
                hint = 'Write what you mean in your own words.';
    end if;
    v_asking := pgclarify_private.parent_run(
        prepare_reply.caller, (prepare_reply.parameters ->> 'run_id')::bigint, '{clarifying_questions}'
    );
    select
        array_agg(listed.ordinal order by listed.ordinal) filter (where listed.reformulation is not null),
        coalesce(max(listed.reformulation) filter (where listed.ordinal = v_ordinal), v_text)
    into v_ordinals, v_text
    from pgclarify_private.proposed_question_rows(array[v_asking.run_id], (prepare_reply.caller).name) as listed
    having count(*) > 0;
    if not found then
        raise exception 'run % has nothing to reply to', v_asking.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = case v_asking.settings ->> 'form'
                    when 'split' then 'Nothing is asked back any more that you may read.'
                    else 'No document answers what the model proposed, so nothing was asked back.'
                end,
                hint = case v_asking.settings ->> 'form'
                    when 'split' then 'Ask pgclarify.clarify again.'
                    else 'Pass {"check": "mark"}, or ask another corpus.'
                end;
    end if;
    if v_ordinal is not null then
        v_run.settings := v_run.settings || jsonb_build_object('ordinal', v_ordinal);
    end if;
    if v_text is null then
        raise exception 'run % has no reformulation %', v_asking.run_id, v_ordinal
            using errcode = 'invalid_parameter_value',
                detail = format('Its reformulations are %s.', coalesce(array_to_string(v_ordinals, ', '), 'none')),
                hint = 'Pass the ordinal of one, or reply in words if none of them is right.';
    end if;
    v_run.corpus_id := v_asking.corpus_id;
    v_run.question := v_asking.question;
    v_run.parent_run_id := v_asking.run_id;
    v_run.settings := v_run.settings || jsonb_strip_nulls(
        jsonb_build_object(
            'text', v_text, 'history', (select turns.history from pgclarify_private.turns_of(v_run, (prepare_reply.caller).name) as turns limit 1)
        )
    );
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_reply(pgclarify_private.caller, pgclarify_private.run, jsonb) is
'As prepare_run, for reply.';

create or replace function pgclarify_private.prepare_next_questions(caller pgclarify_private.caller, run pgclarify_private.run)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most_turns constant integer := 3;
    -- The limits of check_history.
    v_most_elements constant integer := 100;
    v_most_chars constant integer := 10000;
    v_run pgclarify_private.run := prepare_next_questions.run;
    v_replied constant pgclarify_private.run := pgclarify_private.parent_run(
        prepare_next_questions.caller, (v_run.settings -> 'reply')::bigint, '{reply}'
    );
    v_said text[];
    v_turn record;
begin
    v_run.question := (
        select rewriting.rewritten from pgclarify_private.rewriting where rewriting.run_id = v_replied.run_id
    );
    if v_run.question is null then
        raise exception 'what run % said is gone', v_replied.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'It was erased with a document.',
                hint = 'Ask pgclarify.clarifying_questions with a question.';
    end if;
    for v_turn in
        select turns.*
        from pgclarify_private.turns_of(v_replied, (prepare_next_questions.caller).name) with ordinality
            as turns (history, question, asked, reply, ordinal)
    loop
        if v_turn.ordinal = 1 then
            v_said := array(select jsonb_array_elements_text(v_turn.history)) || v_turn.question;
        end if;
        v_said := v_said || array_to_string(v_turn.asked, E'\n') || v_turn.reply;
    end loop;
    if v_said is null then
        raise exception 'what run % replied to is gone', v_replied.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'The run that asked back was deleted.',
                hint = format('Ask with the question of the reply: "%s".', pgclarify_private.shown(v_run.question));
    end if;
    if v_turn.ordinal >= v_most_turns then
        raise exception 'the conversation has had its % turns', v_most_turns
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its question is now: "%s".', pgclarify_private.shown(v_run.question)),
                hint = 'Ask pgclarify.clarify with that question.';
    end if;
    if v_replied.corpus_id is null and v_run.settings ->> 'check' <> 'none' then
        raise exception 'the conversation has no corpus, so nothing can be checked'
            using errcode = 'invalid_parameter_value', column = 'check', hint = 'Pass {"check": "none"}.';
    end if;
    v_run.corpus_id := v_replied.corpus_id;
    v_run.parent_run_id := v_replied.run_id;
    -- The part of the corpus that was asked of, if no other is passed.
    v_run.settings := (
        select coalesce(jsonb_object_agg(setting.key, setting.value), '{}')
        from pgclarify_private.run as asking
        cross join lateral jsonb_each(asking.settings) as setting
        where asking.run_id = v_replied.parent_run_id and setting.key in ('filter', 'document_set')
    ) || (v_run.settings - 'reply') || jsonb_build_object(
        'history',
        (
            select jsonb_agg(left(said.line, v_most_chars) order by said.ordinal)
            from unnest(v_said) with ordinality as said (line, ordinal)
            where said.ordinal > cardinality(v_said) - v_most_elements
        )
    );
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_next_questions(pgclarify_private.caller, pgclarify_private.run) is
'The run that clarifying_questions enters to go on from a reply: with its question and corpus, and a history of all turns, up '
'to the limit of a history. run: with its settings, one of which is reply. Error 55000 after the last turn, or if '
'a run that asked back was deleted.';
