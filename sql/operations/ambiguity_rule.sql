-- Rules of ambiguity, and a check that budgets share: which role may edit settings of one corpus, or of all.

create or replace view pgclarify.ambiguity_rule as
select
    ambiguity_rule.ambiguity_rule_id,
    ambiguity_rule.pattern || '' as pattern,
    ambiguity_rule.kind,
    ambiguity_rule.corpus || '' as corpus,
    ambiguity_rule.note || '' as note,
    ambiguity_rule.created_at
from pgclarify_private.ambiguity_rule;

grant select on pgclarify.ambiguity_rule to pgclarify_reader;

create or replace function pgclarify_private.edited_corpus(caller pgclarify_private.caller, corpus text)
returns pgclarify_private.corpus
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_administrator constant boolean
        := 'pgclarify_owner'::name = any(pgclarify_private.roles_of(pgclarify_private.verify_caller(edited_corpus.caller)));
    v_corpus pgclarify_private.corpus;
begin
    if edited_corpus.corpus is null then
        if not v_is_administrator then
            raise exception 'only members of pgclarify_owner can edit settings for all corpora'
                using errcode = 'insufficient_privilege',
                    detail = 'The parameter corpus is null, which means all corpora.',
                    hint = 'Pass corpus => ''NAME'' of a corpus that you own.';
        end if;
        return null;
    end if;
    if v_is_administrator then
        -- Even a corpus that this member may not search.
        select named.* into v_corpus from pgclarify_private.living_corpus as named where named.name = edited_corpus.corpus;
    end if;
    if v_corpus.corpus_id is null then
        v_corpus := pgclarify_private.owned_corpus(edited_corpus.caller, edited_corpus.corpus);
    end if;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    return v_corpus;
end
$$;

comment on function pgclarify_private.edited_corpus(pgclarify_private.caller, text) is
'The corpus whose budgets and rules the caller edits, locked by lock_corpus. Null for all '
'corpora. Error 42501 if the caller may not edit them, 42704 if the corpus does not exist or the caller may not search it.';

create or replace function pgclarify_private.check_pattern(pattern text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_message text;
begin
    if check_pattern.pattern is null then
        raise exception 'a rule needs a pattern'
            using errcode = 'invalid_parameter_value', hint = 'For example, pass pattern => ''\mpythons?\M''.';
    end if;
    if length(check_pattern.pattern) not between 1 and 500 then
        raise exception 'a pattern needs 1 to 500 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', length(check_pattern.pattern)),
                hint = 'Split it into several rules.';
    end if;
    -- Compiled as in use: without regard to case.
    if '' ~* check_pattern.pattern then
        raise exception 'a pattern must not match where there is nothing'
            using errcode = 'invalid_parameter_value',
                detail = 'It matches the empty text, and so perhaps every question.',
                hint = 'Remove empty alternatives, or make a part required. To match every question, use ".".';
    end if;
exception
    when invalid_regular_expression then
        get stacked diagnostics v_message = message_text;
        raise exception 'a pattern must be a regular expression'
            using errcode = 'invalid_regular_expression',
                detail = format('PostgreSQL says: %s.', v_message),
                hint = 'Write a backslash before special characters such as ( [ { * + ? . and \.';
end
$$;

comment on function pgclarify_private.check_pattern(text) is
'Error 22023 or 2201B unless it is a regular expression of 1 to 500 characters that does not match the empty text. It does '
'not measure the speed of the pattern: a worker tries rules with a time limit, and names the rule that exceeds it.';

create or replace function pgclarify_private.add_ambiguity_rule(
    caller pgclarify_private.caller, pattern text, kind text, corpus text, note text
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus
        := pgclarify_private.edited_corpus(add_ambiguity_rule.caller, add_ambiguity_rule.corpus);
begin
    perform pgclarify_private.check_pattern(add_ambiguity_rule.pattern);
    if add_ambiguity_rule.kind is null or add_ambiguity_rule.kind not in ('pragmatic', 'syntactic', 'lexical') then
        raise exception 'there is no kind "%"', pgclarify_private.shown(coalesce(add_ambiguity_rule.kind, 'null'))
            using errcode = 'invalid_parameter_value', hint = 'Pass pragmatic, syntactic or lexical.';
    end if;
    if length(add_ambiguity_rule.note) not between 1 and 500 then
        raise exception 'a note needs 1 to 500 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', length(add_ambiguity_rule.note)),
                hint = 'Omit it if there is no note.';
    end if;
    -- Two callers at once would add the pattern twice, perhaps with different kinds.
    if v_corpus.corpus_id is null then
        -- Only members of pgclarify_owner come here. This mode conflicts with itself, and not with rules of a corpus.
        lock table pgclarify_private.ambiguity_rule in share update exclusive mode;
    else
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for no key update;
    end if;
    update pgclarify_private.ambiguity_rule as known
    set kind = add_ambiguity_rule.kind, note = add_ambiguity_rule.note
    where
        known.corpus_id is not distinct from v_corpus.corpus_id
        and known.pattern = add_ambiguity_rule.pattern
        and (known.kind, known.note) is distinct from (add_ambiguity_rule.kind, add_ambiguity_rule.note);
    if found then
        return true;
    end if;
    insert into pgclarify_private.ambiguity_rule (pattern, kind, corpus, note, corpus_id)
    select add_ambiguity_rule.pattern, add_ambiguity_rule.kind, v_corpus.name, add_ambiguity_rule.note, v_corpus.corpus_id
    where not exists (
        select
        from pgclarify_private.ambiguity_rule as known
        where known.corpus_id is not distinct from v_corpus.corpus_id and known.pattern = add_ambiguity_rule.pattern
    );
    return found;
end
$$;

comment on function pgclarify_private.add_ambiguity_rule(pgclarify_private.caller, text, text, text, text) is
'See add_ambiguity_rule.';
grant execute on function
    pgclarify_private.add_ambiguity_rule(pgclarify_private.caller, text, text, text, text) to pgclarify_user;

create or replace function pgclarify_private.remove_ambiguity_rule(caller pgclarify_private.caller, pattern text, corpus text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint
        := (pgclarify_private.edited_corpus(remove_ambiguity_rule.caller, remove_ambiguity_rule.corpus)).corpus_id;
begin
    delete from pgclarify_private.ambiguity_rule as known
    where known.corpus_id is not distinct from v_corpus_id and known.pattern = remove_ambiguity_rule.pattern;
    return found;
end
$$;

comment on function pgclarify_private.remove_ambiguity_rule(pgclarify_private.caller, text, text) is
'See remove_ambiguity_rule.';
grant execute on function pgclarify_private.remove_ambiguity_rule(pgclarify_private.caller, text, text) to pgclarify_user;

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
            rule.corpus_id is null
            or rule.corpus_id = v_run.corpus_id
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
