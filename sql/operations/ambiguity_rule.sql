-- Rules of ambiguity: rows that users edit, and what keeps them from running away.

create or replace function pgclarify_private.pattern_tokens(pattern text)
returns table (token text, ordinal bigint)
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select found.token[1], found.ordinal
    from regexp_matches(
        pattern_tokens.pattern,
        -- Escapes; bracket expressions, in which a first ] is a letter, and \c takes a letter whatever it is; their beginnings
        -- up to what is refused in them; what begins a group; quantifiers; and the rest. Of several, the longest.
        '\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]+|\\c.|\\[^c]'
        '|\[\^?\]?(?:\[:[a-z<>]+:\]|\[(?![.:=])|\\c.|\\[^c]|[^][\\])*(?:\]|\[[.=])'
        '|\(\?<?.|\{[0-9]+(?:,[0-9]*)?\}\??|[*+?]\??|.',
        'g'
    ) with ordinality as found (token, ordinal);
end;

comment on function pgclarify_private.pattern_tokens(text) is
'The parts of an advanced regular expression, in order. One that does not compile has parts of some kind, too.';

create or replace function pgclarify_private.raise_unfit_pattern(message text, detail text, hint text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception '%', raise_unfit_pattern.message
        using errcode = 'invalid_parameter_value', detail = raise_unfit_pattern.detail, hint = raise_unfit_pattern.hint;
end
$$;

comment on function pgclarify_private.raise_unfit_pattern(text, text, text) is 'Error 22023.';

create or replace function pgclarify_private.check_pattern_runs(pattern text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    -- With so many copies, and nothing repeated that may be empty, 10,000 characters take some 15 ms at worst.
    v_most_copies constant integer := 100;
    -- PostgreSQL tries all ways to pass by them, which doubles what it compiles with each: 16 take a second.
    v_most_bounds constant integer := 6;
    v_token text;
    v_copies integer := 0;
    -- Of the groups that are open, the outermost first: how long what came before in them is once counts are written out,
    -- and whether that, and an earlier alternative, may be empty.
    v_outer_lengths integer[] := '{}';
    v_outer_empties boolean[] := '{}';
    v_outer_alternatives boolean[] := '{}';
    -- Bounds of words and lines: how many there are in them, and in a row, with no letter in between that has to be there.
    v_outer_bounds integer[] := '{}';
    v_outer_rows integer[] := '{}';
    v_outer_alternative_rows integer[] := '{}';
    v_bounds integer := 0;
    v_row integer := 0;
    v_alternative_row integer := 0;
    v_length integer := 0;
    v_may_be_empty boolean := true;
    v_has_empty_alternative boolean := false;
    -- Of what a quantifier would apply to; 0 if there is nothing.
    v_last_length integer := 0;
    v_may_last_be_empty boolean;
    v_might_have_been_empty boolean;
    v_last_bounds integer := 0;
    v_last_row integer := 0;
    v_count integer;
begin
    for v_token in
        select part.token from pgclarify_private.pattern_tokens(check_pattern_runs.pattern) as part order by part.ordinal
    loop
        if v_token ~ '^\\[0-9]' then
            perform pgclarify_private.raise_unfit_pattern(
                'a pattern must not refer back to what it matched', 'Back references such as \1 can take for ever.',
                'Write the alternatives out.'
            );
        elsif v_token ~ '^\[.*\[[.=]$' then
            perform pgclarify_private.raise_unfit_pattern(
                'a pattern must not have collating elements or equivalence classes in brackets',
                format('It has "%s".', pgclarify_private.shown(v_token)),
                'Of what begins with [ in brackets there are only classes such as [:alpha:]. A [ itself is written \[.'
            );
        elsif v_token like '(?%' and v_token <> '(?:' then
            perform pgclarify_private.raise_unfit_pattern(
                'a pattern must not look around or have options',
                format('It has "%s". Of what begins with (? there is only (?:...), a group.', pgclarify_private.shown(v_token)),
                'Say what is to match, in several rules if need be. Rules match in any case of letters.'
            );
        elsif v_token in ('(', '(?:') then
            v_outer_lengths := v_outer_lengths || v_length;
            v_outer_empties := v_outer_empties || v_may_be_empty;
            v_outer_alternatives := v_outer_alternatives || v_has_empty_alternative;
            v_outer_bounds := v_outer_bounds || v_bounds;
            v_outer_rows := v_outer_rows || v_row;
            v_outer_alternative_rows := v_outer_alternative_rows || v_alternative_row;
            v_bounds := 0;
            v_alternative_row := 0;
            v_length := 0;
            v_may_be_empty := true;
            v_has_empty_alternative := false;
            v_last_length := 0;
        elsif v_token = ')' and cardinality(v_outer_lengths) > 0 then
            v_last_length := greatest(v_length, 1);
            v_may_last_be_empty := v_may_be_empty or v_has_empty_alternative;
            v_length := v_outer_lengths[cardinality(v_outer_lengths)] + v_last_length;
            v_might_have_been_empty := v_outer_empties[cardinality(v_outer_lengths)];
            v_may_be_empty := v_might_have_been_empty and v_may_last_be_empty;
            v_has_empty_alternative := v_outer_alternatives[cardinality(v_outer_lengths)];
            v_last_bounds := v_bounds;
            v_last_row := v_outer_rows[cardinality(v_outer_rows)];
            v_row := case
                when v_may_last_be_empty then v_last_row + v_last_bounds
                else greatest(v_alternative_row, v_row)
            end;
            v_bounds := v_outer_bounds[cardinality(v_outer_bounds)] + v_last_bounds;
            v_alternative_row := v_outer_alternative_rows[cardinality(v_outer_alternative_rows)];
            v_outer_lengths := trim_array(v_outer_lengths, 1);
            v_outer_empties := trim_array(v_outer_empties, 1);
            v_outer_alternatives := trim_array(v_outer_alternatives, 1);
            v_outer_bounds := trim_array(v_outer_bounds, 1);
            v_outer_rows := trim_array(v_outer_rows, 1);
            v_outer_alternative_rows := trim_array(v_outer_alternative_rows, 1);
        elsif v_token = '|' then
            v_alternative_row := greatest(v_alternative_row, v_row);
            v_row := coalesce(v_outer_rows[cardinality(v_outer_rows)], 0);
            v_has_empty_alternative := v_has_empty_alternative or v_may_be_empty;
            v_may_be_empty := true;
            v_last_length := 0;
        elsif v_last_length > 0 and v_token ~ '^([*+?]|\{[0-9])' then
            if v_may_last_be_empty and left(v_token, 1) <> '?' then
                perform pgclarify_private.raise_unfit_pattern(
                    'a pattern must not repeat what may be empty',
                    format('What stands before "%s" matches no letters at all, too.', v_token),
                    'Let one of the two quantifiers go: (a+)* is (a+)?, and (a*)+ is a*.'
                );
            end if;
            v_count := case when left(v_token, 1) <> '{' then 1 else (
                select max(number[1]::integer) from regexp_matches(v_token, '[0-9]{1,4}', 'g') as number
            ) end;
            v_copies := v_copies + v_last_length * greatest(v_count - 1, 0);
            v_length := v_length + v_last_length * greatest(v_count - 1, 0);
            v_last_length := v_last_length * greatest(v_count, 1);
            if v_token ~ '^([*?]|\{0+[,}])' then
                v_copies := v_copies + 1;
                v_may_last_be_empty := true;
                v_may_be_empty := v_might_have_been_empty;
                v_row := v_last_row + v_last_bounds;
            end if;
            if left(v_token, 1) <> '?' and v_last_bounds > 0 then
                -- What ends one copy stands before what begins the next.
                v_bounds := v_bounds + v_last_bounds * greatest(v_count - 1, 1);
                v_row := v_last_row + v_last_bounds * greatest(v_count, 2);
            end if;
            if v_copies > v_most_copies then
                perform pgclarify_private.raise_unfit_pattern(
                    'a pattern must not repeat so much',
                    format(
                        'Written out, its counts in braces, and what is optional in it, are more than %s copies; counts in each '
                        'other multiply.',
                        v_most_copies
                    ),
                    'Use * or + in place of counts, smaller counts, or several rules.'
                );
            end if;
        else
            v_length := v_length + 1;
            v_last_length := 1;
            v_might_have_been_empty := v_may_be_empty;
            v_may_last_be_empty := v_token in ('^', '$', '\m', '\M', '\y', '\Y', '\A', '\Z', '[[:<:]]', '[[:>:]]');
            v_may_be_empty := v_may_be_empty and v_may_last_be_empty;
            v_last_bounds := v_may_last_be_empty::integer;
            v_last_row := v_row;
            v_bounds := v_bounds + v_last_bounds;
            v_row := case when v_may_last_be_empty then v_row + 1 else 0 end;
        end if;
        if v_row > v_most_bounds then
            perform pgclarify_private.raise_unfit_pattern(
                'a pattern must not have so many bounds of words or lines in a row',
                format(
                    'More than %s of ^, $, \m, \M, \y and \Y come with nothing in between that has to be there.', v_most_bounds
                ),
                'Leave some out, or make several rules of it.'
            );
        end if;
    end loop;
end
$$;

comment on function pgclarify_private.check_pattern_runs(text) is
'Error 22023 if matching a regular expression could take long: back references, looking around, what may be empty repeated, '
'high counts, many bounds in a row; and if its brackets have more than letters, escapes and classes in them.';

create or replace function pgclarify_private.is_fit_pattern(pattern text)
returns boolean
-- By the pattern alone, and not by trying how long it takes: a dump must load wherever it is loaded.
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_longest constant integer := 500;
    v_message text;
begin
    if length(is_fit_pattern.pattern) not between 1 and v_longest then
        perform pgclarify_private.raise_unfit_pattern(
            format('a pattern needs 1 to %s characters', v_longest),
            format('It has %s.', length(is_fit_pattern.pattern)),
            'Make several rules of it.'
        );
    end if;
    if left(is_fit_pattern.pattern, 3) = '***' then
        perform pgclarify_private.raise_unfit_pattern(
            'a pattern must not begin with a director',
            'What begins with *** changes how the rest is read.',
            'Write an advanced regular expression without it.'
        );
    end if;
    perform pgclarify_private.check_pattern_runs(is_fit_pattern.pattern);
    begin
        -- Compiled as it will be, in any case of letters.
        if '' ~* is_fit_pattern.pattern then
            perform pgclarify_private.raise_unfit_pattern(
                'a pattern must not match where there is nothing',
                'It matches the empty text, and so perhaps every question.',
                'Is an alternative empty, or everything optional? What matches every question is "."'
            );
        end if;
    exception
        when invalid_regular_expression then
            get stacked diagnostics v_message = message_text;
            raise exception 'a pattern must be a regular expression'
                using errcode = 'invalid_regular_expression',
                    detail = format('PostgreSQL says: %s.', v_message),
                    hint = 'Letters that mean something, such as ( [ { * + ? . and \, are written after a backslash.';
    end;
    return true;
end
$$;

comment on function pgclarify_private.is_fit_pattern(text) is
'True for an advanced regular expression that compiles, does not match the empty text, and cannot run away; error 22023 or '
'2201B otherwise.';
-- Until 0020 users wrote rules, and the constraint asked it as the user.
revoke execute on function pgclarify_private.is_fit_pattern(text) from pgclarify_user;
