-- Conversations: their turns, and how they continue.

create or replace view pgclarify.conversation_turn as
select
    turn.conversation_id,
    conversation.question || '' as first_question,
    conversation.corpus_name || '' as corpus,
    (conversation.requested_by || '')::name as requested_by,
    turn.ordinal,
    turn.run_id,
    turn.form,
    turn.asked || '' as asked,
    turn.reply || '' as reply,
    turn.question || '' as question,
    turn.created_at
from pgclarify_private.turn
inner join pgclarify_private.conversation on turn.conversation_id = conversation.conversation_id;

comment on view pgclarify.conversation_turn is 'Conversations that you may see, with a row for each turn.';
comment on column pgclarify.conversation_turn.first_question is 'The original question.';
comment on column pgclarify.conversation_turn.corpus is
'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.conversation_turn.requested_by is 'Role that asked; its members may continue.';
grant select on pgclarify.conversation_turn to pgclarify_reader;

create or replace function pgclarify_private.find_conversation(roles name[], conversation_id bigint)
returns pgclarify_private.conversation
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conversation pgclarify_private.conversation;
begin
    select conversation.* into v_conversation
    from pgclarify_private.conversation
    where conversation.conversation_id = find_conversation.conversation_id
        and pgclarify_private.belongs_to(conversation.requested_by, conversation.requested_by_oid, find_conversation.roles);
    if not found then
        raise exception 'conversation % does not exist', find_conversation.conversation_id
            using errcode = 'undefined_object',
                detail = 'You have no conversation of that number.',
                hint = case
                    when pgclarify_private.has_frozen_snapshot() then
                        'This transaction sees conversations only as they were when it began, and a standby may be behind: if '
                        'this one is newer, begin the transaction anew.'
                    else 'One begins with pgclarify.reply, which returns its number.'
                end;
    end if;
    return v_conversation;
end
$$;

comment on function pgclarify_private.find_conversation(name[], bigint) is
'The conversation, if one of these roles asked its first question; otherwise error 42704, even if it exists.';

create or replace function pgclarify_private.corpus_to_go_on_in(
    conversation pgclarify_private.conversation, roles name[], given text, is_checked boolean
)
returns pgclarify_private.corpus
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conversation_id constant bigint := (corpus_to_go_on_in.conversation).conversation_id;
    v_name constant text := (corpus_to_go_on_in.conversation).corpus_name;
    v_corpus pgclarify_private.corpus;
begin
    if v_name is null then
        if corpus_to_go_on_in.given is not null then
            raise exception 'conversation % is of no corpus', v_conversation_id
                using errcode = 'invalid_parameter_value',
                    detail = 'Its turns would become part of a question to that corpus.',
                    hint = 'Omit the corpus, or option "conversation".';
        end if;
        if corpus_to_go_on_in.is_checked then
            raise exception 'conversation % is of no corpus, so nothing can be checked', v_conversation_id
                using errcode = 'invalid_parameter_value', hint = 'Pass option check none.';
        end if;
        return v_corpus;
    end if;
    select visible.* into v_corpus
    from pgclarify_private.visible_corpora(corpus_to_go_on_in.roles) as visible
    where visible.corpus_id = (corpus_to_go_on_in.conversation).corpus_id;
    if not found then
        raise exception 'the corpus of conversation % does not exist any more', v_conversation_id
            using errcode = 'undefined_object',
                detail = format(
                    'It was "%s"; it was dropped, or you may not search it any more.', pgclarify_private.shown(v_name)
                ),
                hint = 'Omit option "conversation", and ask another corpus the last question of the conversation.';
    end if;
    if corpus_to_go_on_in.given is not null
        and (pgclarify_private.find_corpus(corpus_to_go_on_in.roles, corpus_to_go_on_in.given)).corpus_id
            <> v_corpus.corpus_id then
        raise exception 'conversation % is of corpus "%"', v_conversation_id, v_corpus.name
            using errcode = 'invalid_parameter_value',
                detail = 'Its turns would become part of a question to another corpus.',
                hint = 'Omit the corpus, or option "conversation".';
    end if;
    return v_corpus;
end
$$;

comment on function pgclarify_private.corpus_to_go_on_in(pgclarify_private.conversation, name[], text, boolean) is
'The corpus of a conversation, null if it has none. given: the name that the caller passed, or null. is_checked: whether a '
'corpus is needed. Error 42704 if the corpus is gone. Error 22023 if another one was given, or if the conversation has none '
'and one was given or is needed.';

create or replace function pgclarify_private.go_on_asking(
    conversation pgclarify_private.conversation, given text, earlier jsonb
)
returns table (question text, history jsonb, next_turn integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most_turns constant integer := 3;
    -- The limit of check_history.
    v_most_elements constant integer := 100;
    v_most_chars constant integer := 10000;
    v_conversation_id constant bigint := (go_on_asking.conversation).conversation_id;
    v_earlier constant jsonb := (go_on_asking.conversation).history;
    v_turns constant pgclarify_private.turn[] := array(
        select turn from pgclarify_private.turn where turn.conversation_id = v_conversation_id order by turn.ordinal
    );
    v_last constant pgclarify_private.turn := v_turns[cardinality(v_turns)];
    v_said jsonb;
begin
    if v_last.ordinal = v_most_turns then
        raise exception 'conversation % has had its % turns', v_conversation_id, v_most_turns
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Its question is now: "%s".', pgclarify_private.shown(v_last.question)),
                hint = 'Ask pgclarify.clarify with that question.';
    end if;
    if btrim(go_on_asking.given, E' \t\r\n\f\x0b') <> btrim(v_last.question, E' \t\r\n\f\x0b') then
        raise exception 'conversation % is about another question', v_conversation_id
            using errcode = 'invalid_parameter_value',
                detail = format('Its question is now: "%s".', pgclarify_private.shown(v_last.question)),
                hint = 'Omit the question, or option "conversation".';
    end if;
    if go_on_asking.earlier not in ('[]', v_earlier) then
        raise exception 'conversation % began after another history', v_conversation_id
            using errcode = 'invalid_parameter_value',
                detail = 'The conversation keeps its own history.',
                hint = 'Omit the history, or option "conversation".';
    end if;
    select jsonb_agg(left(said.line, v_most_chars) order by said.ordinal, said.part) into v_said
    from (
        select 0 as ordinal, 0 as part, (go_on_asking.conversation).question as line
        union all
        select turn.ordinal, part.number, part.line
        from unnest(v_turns) as turn
        cross join lateral (values (1, turn.asked), (2, turn.reply)) as part (number, line)
    ) as said;
    return query
    select
        v_last.question,
        (
            select coalesce(jsonb_agg(kept.line order by kept.ordinal), '[]')
            from jsonb_array_elements(v_earlier) with ordinality as kept (line, ordinal)
            where kept.ordinal > jsonb_array_length(v_earlier) + jsonb_array_length(v_said) - v_most_elements
        ) || v_said,
        v_last.ordinal + 1;
end
$$;

comment on function pgclarify_private.go_on_asking(pgclarify_private.conversation, text, jsonb) is
'The state of a conversation before its next turn: its question, its history with the turns so far, up to the limit of a '
'history, and the next turn. given, earlier: the question that the caller passed, or null, and the history. Error 55000 '
'after the last turn, 22023 if the question or the history is different.';

create or replace function pgclarify_private.asked_back(run_id bigint)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        string_agg(
            -- One line for each, even if the text of the model has line breaks.
            regexp_replace(coalesce(listed.clarifying_question, listed.reformulation), '\s+', ' ', 'g'),
            E'\n'
            order by listed.ordinal
        )
    from pgclarify_private.clarifying_question as listed
    where listed.run_id = asked_back.run_id;
end;

comment on function pgclarify_private.asked_back(bigint) is 'The questions of a run, one line for each.';

create or replace function pgclarify_private.lock_conversation(conversation_id bigint, patience interval)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lock_timeout constant text := current_setting('lock_timeout');
    -- The caller's own limit may be shorter; 0 means no limit.
    v_patience constant interval := least(nullif(v_lock_timeout::interval, interval '0'), lock_conversation.patience);
begin
    perform set_config(
        'lock_timeout',
        coalesce(least(greatest(ceil(extract(epoch from v_patience) * 1000), 1), 2147483647), 0)::bigint::text,
        true
    );
    -- This locks the first turn, which always exists. It is not an advisory lock, because every user can take that. It is not
    -- the row of the conversation, because drop_corpus updates that while it locks the corpus, and a call that waits needs the
    -- corpus.
    perform
    from pgclarify_private.turn
    where turn.conversation_id = lock_conversation.conversation_id and turn.ordinal = 1
    for no key update;
    perform set_config('lock_timeout', v_lock_timeout, true);
exception
    when lock_not_available then
        raise exception 'conversation % is being replied to', lock_conversation.conversation_id
            using errcode = 'lock_not_available',
                detail = format('That transaction did not end within %s.', v_patience),
                hint = 'Try again once it has ended.';
end
$$;

comment on function pgclarify_private.lock_conversation(bigint, interval) is
'Make other replies in a conversation wait until the transaction ends, so that each one sees the earlier ones. patience: '
'maximum wait for this lock; null means lock_timeout. Error 55P03 after that.';

create or replace function pgclarify_private.find_turn(run pgclarify_private.run, roles name[], reply text, patience interval)
returns pgclarify_private.turn
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings constant jsonb := (find_turn.run).settings;
    v_turn pgclarify_private.turn;
    v_earlier pgclarify_private.turn;
begin
    v_turn.ordinal := coalesce((v_settings ->> 'turn')::integer, 1);
    if not v_settings ? 'conversation' then
        return v_turn;
    end if;
    v_turn.conversation_id := (
        pgclarify_private.find_conversation(find_turn.roles, (v_settings ->> 'conversation')::bigint)
    ).conversation_id;
    perform pgclarify_private.lock_conversation(v_turn.conversation_id, find_turn.patience);
    select turn.* into v_earlier
    from pgclarify_private.turn
    where turn.conversation_id = v_turn.conversation_id and turn.ordinal = v_turn.ordinal;
    if not found then
        return v_turn;
    end if;
    if v_earlier.run_id is distinct from (find_turn.run).run_id or v_earlier.reply <> find_turn.reply then
        raise exception 'turn % of conversation % has its reply', v_turn.ordinal, v_turn.conversation_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'Only one reply can continue a conversation from this turn.',
                hint = format(
                    'See: select * from pgclarify.conversation_turn where conversation_id = %s. For a different reply, reply '
                    'to its first run, which begins a new conversation.',
                    v_turn.conversation_id
                );
    end if;
    return v_earlier;
end
$$;

comment on function pgclarify_private.find_turn(pgclarify_private.run, name[], text, interval) is
'The turn for a reply to a run, with its question if the same reply was made before; conversation_id is null if it begins a '
'conversation. Locks the conversation as lock_conversation does. Error 55000 if a different reply was made before.';

create or replace function pgclarify_private.add_turn(
    run pgclarify_private.run, turn pgclarify_private.turn, form text, reply text, question text
)
returns pgclarify.reformulated_question
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_conversation_id bigint := (add_turn.turn).conversation_id;
    v_corpus_id bigint;
begin
    -- Each reply to a first run begins a new conversation, even an equal reply. Runs are reused, so two people who share a role
    -- may reply to the same run, and must not read each other's turns.
    if v_conversation_id is null then
        -- The corpus may have been dropped since the question.
        select corpus.corpus_id into v_corpus_id
        from pgclarify_private.corpus
        where corpus.corpus_id = (add_turn.run).corpus_id
        for key share;
        insert into pgclarify_private.conversation (question, corpus_id, corpus_name, history, requested_by, requested_by_oid)
        values (
            (add_turn.run).question, v_corpus_id, (add_turn.run).corpus_name, (add_turn.run).history,
            (add_turn.run).requested_by, (add_turn.run).requested_by_oid
        )
        returning conversation.conversation_id into v_conversation_id;
    end if;
    begin
        insert into pgclarify_private.turn (conversation_id, ordinal, run_id, form, asked, reply, question)
        values (
            v_conversation_id,
            (add_turn.turn).ordinal,
            (add_turn.run).run_id,
            add_turn.form,
            pgclarify_private.asked_back((add_turn.run).run_id),
            add_turn.reply,
            add_turn.question
        );
    exception
        when unique_violation then
            raise exception 'conversation % has gone on since this transaction began', v_conversation_id
                using errcode = 'serialization_failure', hint = 'Begin a new transaction.';
    end;
    return pgclarify_private.reformulated(v_conversation_id, (add_turn.turn).ordinal, add_turn.question);
end
$$;

comment on function pgclarify_private.add_turn(pgclarify_private.run, pgclarify_private.turn, text, text, text) is
'Store a turn. The first turn also creates the conversation of the role that asked. Error 40001 if the snapshot is too old '
'to show a later turn.';

create or replace function pgclarify_private.reformulated(conversation_id bigint, turn integer, question text)
returns pgclarify.reformulated_question
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        row(
            reformulated.conversation_id, reformulated.turn, reformulated.question, 3 - reformulated.turn
        )::pgclarify.reformulated_question;
end;

comment on function pgclarify_private.reformulated(bigint, integer, text) is
'The state of a conversation after a turn: its question, and how many of the three turns are left.';
