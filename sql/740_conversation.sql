-- Conversations: their turns, and where they go on.

create or replace view pgclarify.conversation_turn with (security_invoker) as
select
    turn.conversation_id,
    conversation.question as first_question,
    corpus.name as corpus,
    conversation.requested_by,
    turn.ordinal,
    turn.run_id,
    turn.form,
    turn.asked,
    turn.reply,
    turn.question,
    turn.created_at
from pgclarify.turn
inner join pgclarify.conversation on turn.conversation_id = conversation.conversation_id
left join pgclarify.corpus on conversation.corpus_id = corpus.corpus_id;

comment on view pgclarify.conversation_turn is 'Conversations that you may see, a row for each turn.';
comment on column pgclarify.conversation_turn.conversation_id is 'The conversation.';
comment on column pgclarify.conversation_turn.first_question is 'The question as it was asked first.';
comment on column pgclarify.conversation_turn.corpus is
'The corpus''s name now; null if it was dropped, you may not see it, or none was asked.';
comment on column pgclarify.conversation_turn.requested_by is 'Role that asked.';
comment on column pgclarify.conversation_turn.ordinal is 'Place in the conversation, from 1 to 3.';
comment on column pgclarify.conversation_turn.run_id is
'The run of clarifying_questions that asked back; null once it is gone.';
comment on column pgclarify.conversation_turn.form is
'respond (the reply is in words) or select (a reformulation was chosen).';
comment on column pgclarify.conversation_turn.asked is
'What was asked back: the clarifying questions, or the reformulations to choose from, a line each.';
comment on column pgclarify.conversation_turn.reply is 'The reply, or the reformulation that was chosen.';
comment on column pgclarify.conversation_turn.question is 'The question since then, reformulated.';
comment on column pgclarify.conversation_turn.created_at is 'When the reply came.';
grant select on pgclarify.conversation_turn to pgclarify_reader;

create or replace function pgclarify._find_conversation(roles name[], conversation_id bigint)
returns pgclarify.conversation
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conversation pgclarify.conversation;
begin
    select conversation.* into v_conversation
    from pgclarify.conversation
    where conversation.conversation_id = _find_conversation.conversation_id
        and conversation.requested_by = any(_find_conversation.roles);
    if not found then
        raise exception 'conversation % does not exist', _find_conversation.conversation_id
            using errcode = 'undefined_object',
                detail = 'There is none of that number that you may go on with.',
                hint = 'One begins with pgclarify.choose or pgclarify.reply, which return its number.';
    end if;
    return v_conversation;
end
$$;

comment on function pgclarify._find_conversation(name[], bigint) is
'The conversation, if a holder of these roles asked; error 42704 otherwise, as if there were none.';

create or replace function pgclarify._go_on_asking(
    conversation pgclarify.conversation, given text, earlier jsonb
)
returns table (question text, history jsonb, next_turn integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most_turns constant integer := 3;
    v_conversation_id constant bigint := (_go_on_asking.conversation).conversation_id;
    v_last pgclarify.turn;
    v_said jsonb;
begin
    select turn.* into v_last
    from pgclarify.turn
    where turn.conversation_id = v_conversation_id
    order by turn.ordinal desc
    limit 1;
    if v_last.ordinal = v_most_turns then
        raise exception 'conversation % has had its % turns', v_conversation_id, v_most_turns
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its question is now: "%s".', pgclarify._shown(v_last.question)),
                hint = 'Ask pgclarify.clarify with that question.';
    end if;
    if btrim(_go_on_asking.given, E' \t\r\n\f\v') <> btrim(v_last.question, E' \t\r\n\f\v') then
        raise exception 'conversation % is about another question', v_conversation_id
            using errcode = 'invalid_parameter_value',
                detail = format('Its question is now: "%s".', pgclarify._shown(v_last.question)),
                hint = 'Leave the question out, or option "conversation".';
    end if;
    select jsonb_agg(said.line order by said.ordinal, said.part) into v_said
    from (
        select 0 as ordinal, 0 as part, (_go_on_asking.conversation).question as line
        union all
        select turn.ordinal, part.number, part.line
        from pgclarify.turn
        cross join lateral (values (1, turn.asked), (2, turn.reply)) as part (number, line)
        where turn.conversation_id = v_conversation_id
    ) as said;
    return query select v_last.question, _go_on_asking.earlier || v_said, v_last.ordinal + 1;
end
$$;

comment on function pgclarify._go_on_asking(pgclarify.conversation, text, jsonb) is
'Where a conversation goes on: its question, what was said so far, and the turn that comes next. given: the question as it was '
'given, or null. earlier: what was said before the conversation. Error 55000 after the last turn, 22023 if the question is '
'another.';

create or replace function pgclarify._asked_back(run_id bigint)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        string_agg(
            -- A line each, however the model spelled it.
            regexp_replace(coalesce(listed.clarifying_question, listed.reformulation), '\s+', ' ', 'g'),
            E'\n'
            order by listed.ordinal
        )
    from pgclarify.clarifying_question as listed
    where listed.run_id = _asked_back.run_id;
end;

comment on function pgclarify._asked_back(bigint) is 'What a run asked back, a line each.';

create or replace function pgclarify._find_turn(run pgclarify.run, roles name[], reply text)
returns pgclarify.turn
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb := (_find_turn.run).settings;
    v_turn pgclarify.turn;
    v_earlier pgclarify.turn;
begin
    v_turn.ordinal := coalesce((v_settings ->> 'turn')::integer, 1);
    if not v_settings ? 'conversation' then
        return v_turn;
    end if;
    v_turn.conversation_id := (
        pgclarify._find_conversation(_find_turn.roles, (v_settings ->> 'conversation')::bigint)
    ).conversation_id;
    -- One at a time: what comes second sees what was first.
    perform from pgclarify.conversation
    where conversation.conversation_id = v_turn.conversation_id
    for no key update;
    select turn.* into v_earlier
    from pgclarify.turn
    where turn.conversation_id = v_turn.conversation_id and turn.ordinal = v_turn.ordinal;
    if not found then
        return v_turn;
    end if;
    if v_earlier.run_id is distinct from (_find_turn.run).run_id or v_earlier.reply <> _find_turn.reply then
        raise exception 'turn % of conversation % has its reply', v_turn.ordinal, v_turn.conversation_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'The conversation went on from there, and cannot go on in two ways.',
                hint = format(
                    'See: select * from pgclarify.conversation_turn where conversation_id = %s. To take another way, reply to '
                    'its first run, which begins a new conversation.',
                    v_turn.conversation_id
                );
    end if;
    return v_earlier;
end
$$;

comment on function pgclarify._find_turn(pgclarify.run, name[], text) is
'The turn that a reply to a run is, with its question if the same reply came before; conversation_id is null if it begins a '
'conversation. Locks the conversation. Error 55000 if another reply came before.';

create or replace function pgclarify._add_turn(
    requester name, run pgclarify.run, turn pgclarify.turn, form text, reply text, question text
)
returns pgclarify.reformulated_question
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conversation_id bigint := (_add_turn.turn).conversation_id;
    v_corpus_id bigint;
begin
    if v_conversation_id is null then
        -- It may have been dropped since it was asked.
        select corpus.corpus_id into v_corpus_id
        from pgclarify.corpus
        where corpus.corpus_id = (_add_turn.run).corpus_id
        for key share;
        insert into pgclarify.conversation (question, corpus_id, requested_by)
        values ((_add_turn.run).question, v_corpus_id, _add_turn.requester)
        returning conversation.conversation_id into v_conversation_id;
    end if;
    begin
        insert into pgclarify.turn (conversation_id, ordinal, run_id, form, asked, reply, question)
        values (
            v_conversation_id,
            (_add_turn.turn).ordinal,
            (_add_turn.run).run_id,
            _add_turn.form,
            pgclarify._asked_back((_add_turn.run).run_id),
            _add_turn.reply,
            _add_turn.question
        );
    exception
        when unique_violation then
            raise exception 'conversation % has gone on since this transaction began', v_conversation_id
                using errcode = 'serialization_failure', hint = 'Begin the transaction anew.';
    end;
    return pgclarify._reformulated(v_conversation_id, (_add_turn.turn).ordinal, _add_turn.question);
end
$$;

comment on function pgclarify._add_turn(name, pgclarify.run, pgclarify.turn, text, text, text) is
'Keep a turn, and begin the conversation if it is its first. Error 40001 if the snapshot is too old to see that it went on.';

create or replace function pgclarify._reformulated(conversation_id bigint, turn integer, question text)
returns pgclarify.reformulated_question
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        row(
            _reformulated.conversation_id, _reformulated.turn, _reformulated.question, 3 - _reformulated.turn
        )::pgclarify.reformulated_question;
end;

comment on function pgclarify._reformulated(bigint, integer, text) is 'Where a conversation stands after a turn, of three.';
