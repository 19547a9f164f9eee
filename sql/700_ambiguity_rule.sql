-- Rules of ambiguity: rows that users edit, and what keeps them from running away.

create or replace function pgclarify._is_fit_pattern(pattern text)
returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_longest constant integer := 500;
    -- Without what is escaped, so that what is left means what it looks like.
    v_plain text := regexp_replace(_is_fit_pattern.pattern, '\\[^0-9]', 'x', 'g');
begin
    if length(_is_fit_pattern.pattern) not between 1 and v_longest then
        raise exception 'a pattern needs 1 to % characters', v_longest
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', length(_is_fit_pattern.pattern)),
                hint = 'Make several rules of it.';
    end if;
    if left(_is_fit_pattern.pattern, 3) = '***' then
        raise exception 'a pattern must not begin with a director'
            using errcode = 'invalid_parameter_value',
                detail = 'What begins with *** changes how the rest is read.',
                hint = 'Write an advanced regular expression without it.';
    end if;
    -- Matching takes time in proportion to the question, but for these.
    if v_plain ~ '\\[1-9]' then
        raise exception 'a pattern must not refer back to what it matched'
            using errcode = 'invalid_parameter_value',
                detail = 'Back references such as \1 can take for ever.',
                hint = 'Write the alternatives out.';
    end if;
    if v_plain ~ '\(\?<?[=!]' then
        raise exception 'a pattern must not look ahead or behind'
            using errcode = 'invalid_parameter_value',
                detail = 'Constraints such as (?!...) are tried at every place of a question.',
                hint = 'Say what is to match, and make several rules of it if need be.';
    end if;
    if v_plain ~ '\{[0-9,]*[0-9]{3,}' then
        raise exception 'a pattern must not repeat anything a hundred times or more'
            using errcode = 'invalid_parameter_value',
                detail = 'Counts in braces are copies, and copies of copies take memory.',
                hint = 'Use * or +, or a smaller count.';
    end if;
    if v_plain ~ '\{[^{}]*\}[^{}]*\{[^{}]*\}[^{}]*\{' then
        raise exception 'a pattern must not have more than two counts in braces'
            using errcode = 'invalid_parameter_value',
                detail = 'Counts in braces are copies, and copies of copies take memory.',
                hint = 'Use * or +, or make several rules of it.';
    end if;
    -- Compiled as it will be, in any case of letters: error 2201B if it cannot be.
    perform 'x' ~* _is_fit_pattern.pattern;
    return true;
end
$$;
comment on function pgclarify._is_fit_pattern(text) is
    'True for a regular expression that compiles and cannot run away; error 22023 or 2201B otherwise.';
