-- Replying to clarifying questions: by a choice, or in words.

create or replace function pgclarify_private.run_to_reply_to(caller pgclarify_private.caller, run_id bigint)
returns pgclarify_private.run
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.visible_run(run_to_reply_to.caller, run_to_reply_to.run_id);
begin
    if v_run.operation <> 'clarifying_questions' then
        raise exception 'run % asked nothing back', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its operation is %s.', v_run.operation),
                hint = 'Pass the run_id of a row of pgclarify.clarifying_questions.';
    end if;
    if not pgclarify_private.belongs_to(
        v_run.requested_by, v_run.requested_by_oid, pgclarify_private.roles_of((run_to_reply_to.caller).name)
    ) then
        raise exception 'run % was asked by another role', v_run.run_id
            using errcode = 'insufficient_privilege',
                detail = format('Role %s asked, and only its members may reply.', v_run.requested_by),
                hint = 'Ask pgclarify.clarifying_questions yourself.';
    end if;
    if v_run.status not in ('succeeded', 'partial') then
        perform pgclarify_private.raise_unless_succeeded(seen)
        from pgclarify_private.rows(null::pgclarify.run_outcome, array[v_run.run_id], null) as seen;
    end if;
    if not exists (select from pgclarify_private.clarifying_question as listed where listed.run_id = v_run.run_id) then
        raise exception 'run % has nothing to reply to', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'No document answers what the model proposed, so nothing was asked back.',
                hint = 'Use option check mark, or ask another corpus.';
    end if;
    return v_run;
end
$$;

comment on function pgclarify_private.run_to_reply_to(pgclarify_private.caller, bigint) is
'A run that asked the caller something back. Errors: 42704; 42501 if the caller may only see it; PC003 if it failed; 55000 '
'if it is not over, or asked nothing back.';

create or replace function pgclarify_private.choose(caller pgclarify_private.caller, run_id bigint, ordinal integer)
returns setof pgclarify.reformulated_question
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := pgclarify_private.verify_caller(choose.caller);
    v_run pgclarify_private.run;
    v_turn pgclarify_private.turn;
    v_chosen text;
begin
    v_run := pgclarify_private.run_to_reply_to(choose.caller, choose.run_id);
    if v_run.settings ->> 'form' <> 'select' then
        raise exception 'run % has questions to answer, and nothing to choose from', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                hint = format(
                    'Reply in words: select * from pgclarify.reply(%s, ''…''). To choose, ask with option form select.',
                    v_run.run_id
                );
    end if;
    select listed.reformulation into v_chosen
    from pgclarify_private.clarifying_question as listed
    where listed.run_id = v_run.run_id and listed.ordinal = choose.ordinal;
    if v_chosen is null then
        raise exception 'run % has no reformulation %', v_run.run_id, coalesce(choose.ordinal::text, 'null')
            using errcode = 'invalid_parameter_value',
                detail = (
                    select format('It has %s, from 1.', count(*))
                    from pgclarify_private.clarifying_question as listed
                    where listed.run_id = v_run.run_id
                ),
                hint = 'Pass the ordinal of one, or reply in words if none of them is right.';
    end if;
    v_turn := pgclarify_private.find_turn(v_run, pgclarify_private.roles_of(v_requester), v_chosen, interval '60 seconds');
    return next case
        when v_turn.question is null then pgclarify_private.add_turn(v_run, v_turn, 'select', v_chosen, v_chosen)
        else pgclarify_private.reformulated(v_turn.conversation_id, v_turn.ordinal, v_turn.question)
    end;
end
$$;

comment on function pgclarify_private.choose(pgclarify_private.caller, bigint, integer) is
'The turn after a reformulation was chosen, for reply. Error 55000 if the run has questions to answer instead.';

create or replace function pgclarify_private.check_reply(reply text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_reply constant text := btrim(check_reply.reply, E' \t\r\n\f\x0b');
begin
    if coalesce(length(v_reply), 0) not between 1 and 10000 then
        raise exception 'a reply needs 1 to 10000 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', coalesce(length(v_reply), 0)),
                hint = 'Write what you mean in your own words.';
    end if;
    return v_reply;
end
$$;

comment on function pgclarify_private.check_reply(text) is 'The reply without surrounding white space, or error 22023.';

create or replace function pgclarify_private.reply_run(
    asked_back pgclarify_private.run, turn pgclarify_private.turn, reply text
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run pgclarify_private.run;
begin
    v_run.operation := 'reply';
    v_run.corpus_id := (reply_run.asked_back).corpus_id;
    v_run.question := (reply_run.asked_back).question;
    v_run.parent_run_id := (reply_run.asked_back).run_id;
    v_run.settings := jsonb_strip_nulls(
        jsonb_build_object('text', reply_run.reply, 'conversation', (reply_run.turn).conversation_id)
    );
    -- The history before the first question: the settings of a later run also contain the turns since then.
    v_run.history := coalesce(
        (
            select conversation.history
            from pgclarify_private.conversation
            where conversation.conversation_id = (reply_run.turn).conversation_id
        ),
        (reply_run.asked_back).history
    );
    return v_run;
end
$$;

comment on function pgclarify_private.reply_run(pgclarify_private.run, pgclarify_private.turn, text) is
'The run that combines a conversation and a reply into one question. asked_back: the run that is replied to. turn: the turn '
'of this reply.';

create or replace function pgclarify_private.prepare_reply(
    caller pgclarify_private.caller, run_id bigint, reply text, timeout text
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_reply constant text := pgclarify_private.check_reply(prepare_reply.reply);
    v_asked_back constant pgclarify_private.run := pgclarify_private.run_to_reply_to(prepare_reply.caller, prepare_reply.run_id);
    v_turn constant pgclarify_private.turn := pgclarify_private.find_turn(
        v_asked_back,
        pgclarify_private.roles_of((prepare_reply.caller).name),
        v_reply,
        pgclarify_private.timeout(prepare_reply.timeout)
    );
begin
    if v_turn.question is not null then
        raise exception 'turn % of conversation % has this reply already', v_turn.ordinal, v_turn.conversation_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its question is: "%s".', pgclarify_private.shown(v_turn.question)),
                hint = 'Ask with that question, or continue the conversation.';
    end if;
    return pgclarify_private.reply_run(v_asked_back, v_turn, v_reply);
end
$$;

comment on function pgclarify_private.prepare_reply(pgclarify_private.caller, bigint, text, text) is
'The run that reply enters, without the turn that reply adds; error 55000 if the reply is a turn already.';

create or replace function pgclarify_private.reply(
    caller pgclarify_private.caller, run_id bigint, reply text, ordinal integer, options jsonb
)
returns setof pgclarify.reformulated_question
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := pgclarify_private.verify_caller(reply.caller);
    v_options constant jsonb := pgclarify_private.check_options(reply.options, pgclarify_private.options_of('reply'));
    v_timeout constant interval := pgclarify_private.timeout(v_options ->> 'timeout');
    v_reply text;
    v_began_at constant timestamptz := clock_timestamp();
    v_run pgclarify_private.run;
    v_turn pgclarify_private.turn;
    v_run_ids bigint[];
begin
    if (reply.reply is null) = (reply.ordinal is null) then
        raise exception 'pass either a reply or the ordinal of a reformulation'
            using errcode = 'invalid_parameter_value',
                hint = 'In words: reply(7, ''…''). A choice: reply(7, ordinal => 2).';
    end if;
    if current_setting('transaction_read_only')::boolean then
        raise exception 'a turn of a conversation cannot be stored in a read-only transaction'
            using errcode = 'read_only_sql_transaction',
                detail = case
                    when pg_is_in_recovery() then 'This server is a standby.'
                    else 'Its setting transaction_read_only is on.'
                end,
                hint = case
                    when pg_is_in_recovery() then 'Call it on the primary.'
                    else 'Call it in a transaction that may write.'
                end;
    end if;
    if reply.ordinal is not null then
        return query select chosen.* from pgclarify_private.choose(reply.caller, reply.run_id, reply.ordinal) as chosen;
        return;
    end if;
    v_reply := pgclarify_private.check_reply(reply.reply);
    v_run := pgclarify_private.run_to_reply_to(reply.caller, reply.run_id);
    v_turn := pgclarify_private.find_turn(v_run, pgclarify_private.roles_of(v_requester), v_reply, v_timeout);
    if v_turn.question is not null then
        return next pgclarify_private.reformulated(v_turn.conversation_id, v_turn.ordinal, v_turn.question);
        return;
    end if;
    if exists (
        select from pgclarify_private.turn
        where turn.conversation_id = v_turn.conversation_id and turn.created_at = transaction_timestamp()
    ) then
        raise exception 'conversation % is not committed yet', v_turn.conversation_id
            using errcode = 'PC004',
                detail = 'Its last turn was made in this transaction, so no worker sees it.',
                hint = 'Commit first, then reply.';
    end if;
    v_run_ids := pgclarify_private.ask_one(
        reply.caller,
        pgclarify_private.reply_run(v_run, v_turn, v_reply),
        -- The time left, in whole seconds for readable messages; at least the shortest timeout.
        greatest(v_timeout - date_trunc('second', clock_timestamp() - v_began_at), interval '1 millisecond')
    );
    return next pgclarify_private.add_turn(
        v_run, v_turn, 'respond', v_reply,
        (
            select seen.rewritten
            from pgclarify_private.current_rows(null::pgclarify.rewriting, v_run_ids, v_requester) as seen
        )
    );
end
$$;

comment on function pgclarify_private.reply(pgclarify_private.caller, bigint, text, integer, jsonb) is 'See reply.';
grant execute on function pgclarify_private.reply(pgclarify_private.caller, bigint, text, integer, jsonb) to pgclarify_user;

create or replace function pgclarify.reply(
    run_id bigint, reply text default null, ordinal integer default null, options jsonb default '{}'
)
returns setof pgclarify.reformulated_question
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.reply(caller, reply.run_id, reply.reply, reply.ordinal, reply.options) as seen;
end;

comment on function pgclarify.reply(bigint, text, integer, jsonb) is
'Reply to clarifying questions: in words, or by choosing a reformulation. For words, a language model makes one question of '
'the conversation, and the call waits for it; a choice calls no model. This begins a conversation, or adds a turn to the '
'conversation of the run. run_id: a run of clarifying_questions. reply: 1 to 10,000 characters. ordinal: the place of the '
'chosen reformulation, instead of a reply; the run has form select. options: timeout (60s).';
grant execute on function pgclarify.reply(bigint, text, integer, jsonb) to pgclarify_user;
