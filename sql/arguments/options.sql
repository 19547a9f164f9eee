-- Arguments of callers: questions, histories, top_k, timeouts and options. They are checked before anything else.

create or replace function pgclarify_private.raise_unknown_option(name text, known jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_shown constant text := pgclarify_private.shown(raise_unknown_option.name);
    v_names constant text[] := array(
        select option.name
        from jsonb_object_keys(raise_unknown_option.known) as option (name)
        order by option.name
    );
    -- Of the functions that take options.
    v_parameters constant text[] := array(
        select distinct parameter.name
        from pg_proc
        -- Parameters come before the columns of what is returned.
        cross join lateral unnest(pg_proc.proargnames[:pg_proc.pronargs]) as parameter (name)
        where pg_proc.pronamespace = 'pgclarify'::regnamespace
            and 'options' = any(pg_proc.proargnames[:pg_proc.pronargs])
            and parameter.name <> 'options'
    );
    v_near constant text := pgclarify_private.nearest_name(raise_unknown_option.name, v_names || v_parameters);
begin
    raise exception 'unknown option "%"', v_shown
        using errcode = 'invalid_parameter_value',
            column = v_shown,
            datatype = array_to_string(v_names, ','),
            detail = format('The options are: %s.', array_to_string(v_names, ', ')),
            hint = case
                when raise_unknown_option.name = 'options' then
                    'Pass each option by itself: in SQL as a key of the object, in Python as a keyword argument.'
                when raise_unknown_option.name = any(v_parameters) then format(
                    'It is a parameter, not an option: pass %s => … beside options, or omit it where there is none.', v_shown
                )
                when v_near is null then 'Check its spelling.'
                else format('Did you mean "%s"?', v_near)
            end;
end
$$;

comment on function pgclarify_private.raise_unknown_option(text, jsonb) is
'Error 22023 for an unknown option. The hint says whether it is a parameter of a function with options, or which one has a '
'similar name.';

create or replace function pgclarify_private.check_options(options jsonb, known jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_most_decimals constant integer := 6;
    v_given jsonb := coalesce(check_options.options, '{}');
    v_option record;
    v_known jsonb;
    v_choices jsonb;
    v_is_fit boolean;
    v_settings jsonb;
    -- Values that are not stored as they were given.
    v_normal jsonb := '{}';
begin
    if jsonb_typeof(v_given) <> 'object' then
        raise exception 'options must be a JSON object'
            using errcode = 'invalid_parameter_value',
                detail = format('It is a JSON %s.', jsonb_typeof(v_given)),
                hint = 'Pass options => ''{"name": "value"}''.';
    end if;
    for v_option in
        select given.key, given.value from jsonb_each(v_given) as given order by given.key
    loop
        v_known := coalesce(
            check_options.known -> v_option.key,
            -- What an object has may also stand beside it: 0.3.0 had no objects.
            (
                select option.value #> array['keys', v_option.key]
                from jsonb_each(check_options.known) as option
                where option.value -> 'keys' ? v_option.key
            )
        );
        if v_known is null then
            perform pgclarify_private.raise_unknown_option(v_option.key, check_options.known);
        end if;
        -- null asks for the default.
        continue when v_option.value = 'null';
        v_choices := v_known -> 'choices';
        v_is_fit := case
            when v_choices is not null then v_choices @> jsonb_build_array(v_option.value)
            when jsonb_typeof(v_option.value) <> case v_known ->> 'type'
                    when 'integer' then 'number'
                    when 'interval' then 'string'
                    else v_known ->> 'type'
                end then false
            when v_known ->> 'type' = 'interval' then
                case
                    when pg_input_is_valid(v_option.value #>> '{}', 'interval')
                        then (v_option.value #>> '{}')::interval > interval '0'
                    else false
                end
            when v_known ->> 'type' = 'integer' then
                trunc(v_option.value::numeric) = v_option.value::numeric
                and v_option.value::numeric between (v_known ->> 'least')::numeric and (v_known ->> 'most')::numeric
            when v_known ->> 'type' = 'number' then
                v_option.value::numeric between (v_known ->> 'least')::numeric and (v_known ->> 'most')::numeric
            when v_known ? 'longest' then
                length(btrim(v_option.value #>> '{}')) between 1 and (v_known ->> 'longest')::integer
                and not coalesce(v_known -> 'never' ? lower(btrim(v_option.value #>> '{}')), false)
                and v_option.value #>> '{}' !~ '[\u0001-\u001f\u007f-\u009f]'
                and not (v_known ? 'keywords' and pgclarify_private.is_reserved_at_endpoint(v_option.value #>> '{}'))
            else true
        end;
        if not v_is_fit then
            raise exception 'option "%" has a wrong value', v_option.key
                using errcode = 'invalid_parameter_value',
                    column = v_option.key,
                    detail = format('It is %s.', pgclarify_private.shown(v_option.value::text)),
                    hint = case
                        when v_choices is not null then format(
                            'Pass one of: %s.',
                            (select string_agg(choice, ', ') from jsonb_array_elements_text(v_choices) as choice)
                        )
                        when v_known ->> 'type' = 'integer' then
                            format('Pass a whole number from %s to %s.', v_known ->> 'least', v_known ->> 'most')
                        when v_known ->> 'type' = 'number' then
                            format('Pass a number from %s to %s.', v_known ->> 'least', v_known ->> 'most')
                        when v_known ->> 'type' = 'interval' then 'Pass a positive interval, such as "60s".'
                        when v_known -> 'never' ? lower(btrim(v_option.value #>> '{}')) then
                            format(
                                'Pass %s, or the name or path of a CrossEncoder; or leave it out.',
                                (
                                    select string_agg(format('"%s"', keyword), ' or ')
                                    from jsonb_array_elements_text(v_known -> 'keywords') as keyword
                                )
                            )
                        when v_known ? 'keywords' and pgclarify_private.is_reserved_at_endpoint(v_option.value #>> '{}') then
                            'This name belongs to the extractive provider: give the model another one at its endpoint.'
                        when v_known ? 'longest' then
                            format(
                                'Pass a JSON string of 1 to %s characters, none of which is a control character.',
                                v_known ->> 'longest'
                            )
                        else format('Pass a JSON %s.', v_known ->> 'type')
                    end;
        end if;
        if v_known ->> 'type' in ('integer', 'number') then
            -- 8.0 is the same number as 8, and must be the same text.
            v_normal := v_normal
                || jsonb_build_object(v_option.key, trim_scale(round(v_option.value::numeric, v_most_decimals)));
        elsif v_known ? 'keys' then
            v_normal := v_normal
                || jsonb_build_object(v_option.key, pgclarify_private.check_options(v_option.value, v_known -> 'keys'));
        end if;
    end loop;
    select coalesce(jsonb_object_agg(option.key, option.value -> 'default'), '{}') into v_settings
    from jsonb_each(check_options.known) as option
    where option.value ? 'default';
    return v_settings || v_normal || (
        -- Not jsonb_strip_nulls: a null inside a value is a part of it.
        select coalesce(jsonb_object_agg(given.key, given.value), '{}')
        from jsonb_each(v_given) as given
        where given.value <> 'null' and not v_normal ? given.key
    );
end
$$;

comment on function pgclarify_private.check_options(jsonb, jsonb) is
'Options completed by their defaults, or error 22023 that lists the allowed values. known maps each name to {"choices": […]}, '
'{"type": "…"}, {"type": "interval"} above 0, {"type": "integer" or "number", "least": …, "most": …}, {"type": "object", '
'"keys": …}, which maps names in the same way, or {"type": "string", "longest": …}, and its "default". With longest there may '
'also be "never", words that would be taken for names, and "keywords" with a meaning of their own. Whole numbers are returned '
'without a fraction, others with six decimals at most.';

create or replace function pgclarify_private.check_questions(questions text[])
returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ordinal integer;
    v_length integer;
begin
    if coalesce(cardinality(check_questions.questions), 0) = 0 then
        raise exception 'there is no question'
            using errcode = 'invalid_parameter_value', hint = 'Pass an array of one question at least.';
    end if;
    select asked.ordinal, asked.length into v_ordinal, v_length
    from (
        select given.ordinal, coalesce(length(btrim(given.question, E' \t\r\n\f\x0b')), 0) as length
        from unnest(check_questions.questions) with ordinality as given (question, ordinal)
    ) as asked
    where asked.length not between 1 and 10000
    order by asked.ordinal
    limit 1;
    if found then
        raise exception 'a question needs 1 to 10000 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('Question %s has %s.', v_ordinal, v_length),
                hint = case
                    when v_length = 0 then 'Leave empty questions out.'
                    else 'Ask about one thing; documents belong into a corpus.'
                end;
    end if;
    return array(
        select btrim(given.question, E' \t\r\n\f\x0b')
        from unnest(check_questions.questions) with ordinality as given (question, ordinal)
        order by given.ordinal
    );
end
$$;

comment on function pgclarify_private.check_questions(text[]) is
'The questions without surrounding white space, or error 22023.';

create or replace function pgclarify_private.check_history(history jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most_elements constant integer := 100;
    v_most_chars constant integer := 10000;
    v_ordinal integer;
begin
    if jsonb_typeof(check_history.history) <> 'array' then
        raise exception 'a history must be an array'
            using errcode = 'invalid_parameter_value',
                detail = format('It is a JSON %s.', jsonb_typeof(check_history.history)),
                hint = 'Pass the earlier turns, oldest first, one element for each turn.';
    end if;
    if jsonb_array_length(check_history.history) > v_most_elements then
        raise exception 'the history is too long'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s elements.', jsonb_array_length(check_history.history)),
                hint = format('Pass the last %s at most.', v_most_elements);
    end if;
    select said.ordinal into v_ordinal
    from jsonb_array_elements(check_history.history) with ordinality as said (line, ordinal)
    where jsonb_typeof(said.line) <> 'string' or length(btrim(said.line #>> '{}', E' \t\r\n\f\x0b')) > v_most_chars
    order by said.ordinal
    limit 1;
    if found then
        raise exception 'an element of the history must be a text of % characters at most', v_most_chars
            using errcode = 'invalid_parameter_value',
                detail = format('It is element %s.', v_ordinal),
                hint = 'Pass the earlier turns, oldest first, one element for each turn.';
    end if;
    return (
        select coalesce(jsonb_agg(said.line order by said.ordinal), '[]')
        from (
            select given.ordinal, btrim(given.line, E' \t\r\n\f\x0b') as line
            from jsonb_array_elements_text(check_history.history) with ordinality as given (line, ordinal)
        ) as said
        where said.line <> ''
    );
end
$$;

comment on function pgclarify_private.check_history(jsonb) is
'Earlier turns, a JSON array, oldest first, without surrounding white space and blank elements; or error 22023.';

create or replace function pgclarify_private.deadline(timeout interval)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if deadline.timeout <= interval '0' then
        raise exception 'timeout must be positive'
            using errcode = 'invalid_parameter_value',
                column = 'timeout',
                detail = format('timeout is %s.', deadline.timeout),
                hint = 'Pass timeout => ''60s'', or null to wait without limit.';
    end if;
    -- A limit of 100 years, because a later time may not exist.
    return clock_timestamp() + least(deadline.timeout, interval '100 years');
end
$$;

comment on function pgclarify_private.deadline(interval) is
'The time at which a call with this timeout stops waiting, or error 22023. For null it is in 100 years.';
