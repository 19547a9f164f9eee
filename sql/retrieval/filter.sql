-- Filters over documents, as conditions of type jsonpath, which the index over metadata serves. They are written so that no
-- metadata make an error: by whether there is one, a role could tell what documents have that it may not read. No text of a
-- filter is ever a part of a statement.

create or replace function pgclarify_private.raise_wrong_filter(key text, value jsonb, hint text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'filter "%" has a wrong form', pgclarify_private.shown(raise_wrong_filter.key)
        using errcode = 'invalid_parameter_value',
            column = 'filter',
            detail = format('Its value is %s.', pgclarify_private.shown(raise_wrong_filter.value::text)),
            hint = raise_wrong_filter.hint;
end
$$;

comment on function pgclarify_private.raise_wrong_filter(text, jsonb, text) is 'Error 22023 about a key of a filter.';

create or replace function pgclarify_private.condition_at(places text[], predicate text default null)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- "exists" is true or false, never unknown, so that it can be negated.
    select '(' || string_agg(
        'exists(' || place || coalesce(' ? (' || condition_at.predicate || ')', '') || ')', ' || ' order by ordinality
    ) || ')'
    from unnest(condition_at.places) with ordinality as place;
end;

comment on function pgclarify_private.condition_at(text[], text) is
'The condition in jsonpath that one of several places has a value, or an array with a value, for which a predicate holds. '
'predicate: in jsonpath, with @ for the value; null for any.';

create or replace function pgclarify_private.comparison(operator text, operand jsonb, is_time boolean)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set standard_conforming_strings = on
as $$
declare
    v_operator constant text := comparison.operator;
    v_is_date constant boolean := pgclarify_private.is_date(comparison.operand);
    v_instant constant timestamptz := case when v_is_date then (comparison.operand #>> '{}')::timestamptz end;
    v_written constant text := to_char(v_instant, 'YYYY-MM-DD"T"HH24:MI:SS.US');
begin
    if comparison.is_time then
        -- A time of the document is a number of seconds there.
        return '@ ' || v_operator || ' ' || extract(epoch from v_instant)::numeric;
    elsif v_operator = '==' or not v_is_date then
        return '@ ' || v_operator || ' ' || comparison.operand::text;
    end if;
    -- To compare a date that has a time zone with one that has none is an error in jsonpath, and no data may make one. So
    -- each is compared with one of its kind.
    return format(
        '@.type() == "string" && ('
        '@ like_regex "^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d:\\d\\d([.]\\d+)?)?$"'
        ' && @.datetime() %1$s "%2$s".datetime()'
        ' || @ like_regex "^\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d([.]\\d+)?(Z|[+-]\\d\\d(:\\d\\d)?)$"'
        ' && @.datetime() %1$s "%2$s+00:00".datetime())',
        v_operator, v_written
    );
end
$$;

comment on function pgclarify_private.comparison(text, jsonb, boolean) is
'A comparison as a predicate of condition_at. operator: ==, <, <=, > or >=. operand: a JSON string, number or boolean. '
'is_time: whether the place has the time of a document, as seconds. A date without a time zone is in UTC.';

create or replace function pgclarify_private.filter_condition(filter jsonb, is_about_metadata boolean)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_allowed constant text := 'Pass a value, an array of values, or an object of comparisons: =, <, <=, >, >=, not, in, '
        'exists, starts_with. Or {"any": [filter, filter]} for alternatives.';
    v_conditions text[] := '{}';
    v_given record;
    v_compared record;
    v_places text[];
    v_is_time boolean;
    v_kind text;
    v_condition text;
begin
    if jsonb_typeof(filter_condition.filter) <> 'object' then
        perform pgclarify_private.raise_wrong_filter('any', filter_condition.filter, 'Pass JSON objects.');
    end if;
    for v_given in select * from jsonb_each(filter_condition.filter) order by key loop
        v_kind := jsonb_typeof(v_given.value);
        if v_given.key = 'any' then
            if v_kind <> 'array' or v_given.value = '[]' then
                perform pgclarify_private.raise_wrong_filter(
                    v_given.key, v_given.value, 'Pass an array of filters, of which one must fit.'
                );
            end if;
            select '(' || string_agg(
                pgclarify_private.filter_condition(one.value, filter_condition.is_about_metadata),
                ' || ' order by one.ordinality
            ) || ')'
            into v_condition
            from jsonb_array_elements(v_given.value) with ordinality as one;
            v_conditions := v_conditions || v_condition;
            continue;
        end if;
        v_is_time := v_given.key in ('dated', 'created_at', 'updated_at');
        v_places := pgclarify_private.filter_places(v_given.key, filter_condition.is_about_metadata);
        for v_compared in
            select * from jsonb_each(
                case v_kind
                    when 'object' then v_given.value
                    when 'array' then jsonb_build_object('in', v_given.value)
                    else jsonb_build_object('=', v_given.value)
                end
            ) as compared (operator, operand)
            order by operator
        loop
            v_kind := jsonb_typeof(v_compared.operand);
            if v_is_time and (
                v_compared.operator in ('not', 'in', 'starts_with')
                or v_compared.operator in ('=', '<', '<=', '>', '>=') and not pgclarify_private.is_date(v_compared.operand)
            ) then
                perform pgclarify_private.raise_wrong_filter(
                    v_given.key, v_given.value,
                    format(
                        'Compare it with a date by =, <, <=, > or >=, for example {"%s": {">=": "2026-01-01"}}; or ask by exists '
                        'whether it is known.',
                        v_given.key
                    )
                );
            end if;
            v_condition := case
                when
                    v_compared.operator in ('=', 'in', 'not')
                    and v_kind in ('array', 'string', 'number', 'boolean', 'null')
                    then (
                        -- Without an element, nothing fits.
                        select coalesce(string_agg(
                            case
                                when jsonb_typeof(one.value) = 'null'
                                    then '!' || pgclarify_private.condition_at(v_places, '@ != null')
                                else pgclarify_private.condition_at(
                                    v_places, pgclarify_private.comparison('==', one.value, v_is_time)
                                )
                            end,
                            ' || ' order by one.ordinality
                        ), '1 == 0')
                        from jsonb_array_elements(
                            case v_kind when 'array' then v_compared.operand else jsonb_build_array(v_compared.operand) end
                        ) with ordinality as one
                    )
                when v_compared.operator in ('<', '<=', '>', '>=') and v_kind in ('string', 'number')
                    then pgclarify_private.condition_at(
                        v_places, pgclarify_private.comparison(v_compared.operator, v_compared.operand, v_is_time)
                    )
                when v_compared.operator = 'starts_with' and v_kind = 'string'
                    then pgclarify_private.condition_at(v_places, '@ starts with ' || v_compared.operand::text)
                when v_compared.operator = 'exists' and v_kind = 'boolean'
                    then case v_compared.operand when 'true' then '' else '!' end
                        || pgclarify_private.condition_at(v_places, '@ != null')
            end;
            if v_condition is null
            or v_compared.operator = '=' and v_kind = 'array'
            or v_kind = 'array' and exists (
                select from jsonb_array_elements(v_compared.operand) as one where jsonb_typeof(one.value) in ('array', 'object')
            ) then
                perform pgclarify_private.raise_wrong_filter(v_given.key, v_given.value, v_allowed);
            end if;
            v_conditions := v_conditions
                || (case when v_compared.operator = 'not' then '!' else '' end || '(' || v_condition || ')');
        end loop;
        if v_given.value = '{}' then
            perform pgclarify_private.raise_wrong_filter(v_given.key, v_given.value, v_allowed);
        end if;
    end loop;
    return case when v_conditions = '{}' then '(1 == 1)' else '(' || array_to_string(v_conditions, ' && ') || ')' end;
end
$$;

comment on function pgclarify_private.filter_condition(jsonb, boolean) is
'The condition of a filter as text of a jsonpath, or error 22023. is_about_metadata: whether it is evaluated on metadata '
'alone, and not on document_facts.';

create or replace function pgclarify_private.filter_places(key text, is_about_metadata boolean)
returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_root constant text := case when filter_places.is_about_metadata then '$' else '$.metadata' end;
    v_key constant text := regexp_replace(filter_places.key, '^metadata\.', '');
    v_whole constant text := v_root || '.' || to_jsonb(v_key)::text;
begin
    if filter_places.key = any(pgclarify_private.filter_columns()) then
        return array['$.' || filter_places.key];
    elsif strpos(v_key, '.') = 0 then
        return array[v_whole];
    end if;
    return array[
        v_whole,
        v_root || (
            select string_agg('.' || to_jsonb(step.name)::text, '' order by step.ordinality)
            from unnest(string_to_array(v_key, '.')) with ordinality as step (name, ordinality)
        )
    ];
end
$$;

comment on function pgclarify_private.filter_places(text, boolean) is
'The jsonpaths of a key of a filter, any of which may fit: a key of metadata, and with dots also a path; or a column of the '
'document. "metadata.title" is a key of metadata, even though the document has a column of that name.';

create or replace function pgclarify_private.is_about_metadata(filter jsonb)
returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select not exists (
        select from jsonb_path_query(is_about_metadata.filter, 'strict $.** ? (@.type() == "object")') as part (value)
        where part.value ?| pgclarify_private.filter_columns()
    );
end;

comment on function pgclarify_private.is_about_metadata(jsonb) is
'Whether a filter has only keys of metadata, so that the index over metadata serves it.';

create or replace function pgclarify_private.check_filter(filter jsonb)
returns jsonb
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most_bytes constant integer := 100000;
    -- Each document is compared with each value.
    v_most_values constant integer := 1000;
    v_bytes constant integer := pg_column_size(check_filter.filter);
    v_values bigint;
begin
    if jsonb_typeof(check_filter.filter) <> 'object' then
        raise exception 'a filter must be a JSON object'
            using errcode = 'invalid_parameter_value',
                column = 'filter',
                detail = format('It is a JSON %s.', jsonb_typeof(check_filter.filter)),
                hint = 'For example, pass filter => ''{"product": "auto", "year": {">=": 2025}}''.';
    end if;
    -- Counting the values of a very long one would take much memory.
    if v_bytes <= v_most_bytes then
        v_values := (select count(*) from jsonb_path_query(check_filter.filter, 'strict $.**'));
    end if;
    if v_bytes > v_most_bytes or v_values > v_most_values then
        raise exception 'the filter is too long'
            using errcode = 'invalid_parameter_value',
                column = 'filter',
                detail = case
                    when v_values is null then format('It has %s bytes.', v_bytes)
                    else format('It has %s values.', v_values)
                end,
                hint = format(
                    'Pass %s bytes and %s values at most, and long lists of documents as document_ids.',
                    v_most_bytes, v_most_values
                );
    end if;
    -- Each "any" has two levels, its array and the filters in it.
    if jsonb_path_exists(check_filter.filter, 'strict $.**{20}') then
        raise exception 'the filter is nested too deeply'
            using errcode = 'invalid_parameter_value',
                column = 'filter',
                detail = 'It has more than 20 levels; each "any" in another has two.',
                hint = 'Write its alternatives in one "any".';
    end if;
    perform pgclarify_private.filter_condition(check_filter.filter, true)::jsonpath;
    return case when check_filter.filter = '{}' then '{}' else jsonb_build_object('filter', check_filter.filter) end;
end
$$;

comment on function pgclarify_private.check_filter(jsonb) is
'The setting of a run for a filter, none if it lets everything through; or error 22023.';

create or replace function pgclarify_private.check_filters(filters jsonb)
returns jsonb
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
begin
    if jsonb_typeof(check_filters.filters) <> 'array' then
        raise exception 'filters must be an array of filters'
            using errcode = 'invalid_parameter_value',
                column = 'filters',
                detail = format('It is a JSON %s.', jsonb_typeof(check_filters.filters)),
                hint = 'Pass a filter for each question, null for none.';
    end if;
    perform pgclarify_private.check_filter(nullif(given.filter, 'null'))
    from (select distinct one.value as filter from jsonb_array_elements(check_filters.filters) as one) as given;
    return jsonb_build_object('filters', check_filters.filters);
end
$$;

comment on function pgclarify_private.check_filters(jsonb) is
'The setting for a filter of each question, which enter_runs turns into that of each run; or error 22023.';

create or replace function pgclarify_private.filter_keys(filter jsonb)
returns setof text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    with recursive listed as (
        select filter_keys.filter as filter
        union all
        select one.value
        from listed
        cross join lateral jsonb_array_elements(
            case when jsonb_typeof(listed.filter -> 'any') = 'array' then listed.filter -> 'any' else '[]' end
        ) as one
    )
    select distinct named.key
    from listed
    cross join lateral jsonb_object_keys(listed.filter) as named (key)
    where named.key <> all(array['any'] || pgclarify_private.filter_columns());
end;

comment on function pgclarify_private.filter_keys(jsonb) is 'The keys of metadata that a filter asks for, each once.';

create or replace function pgclarify_private.tell_unknown_keys(corpus_id bigint, roles name[], filter jsonb)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Of a larger corpus, nothing is told, and of more keys, the first ones: a notice should cost no more than the search.
    v_most_documents constant integer := 10000;
    v_most_keys constant integer := 10;
    v_fence constant jsonpath := pgclarify_private.fence_of(tell_unknown_keys.corpus_id, tell_unknown_keys.roles);
    v_keys text[];
begin
    if (
        select counted.documents from pgclarify_private.corpus_count as counted
        where counted.corpus_id = tell_unknown_keys.corpus_id
    ) > v_most_documents then
        return;
    end if;
    with asked as materialized (
        select
            given.key,
            pgclarify_private.condition_at(pgclarify_private.filter_places(given.key, true))::jsonpath as condition
        from pgclarify_private.filter_keys(tell_unknown_keys.filter) as given (key)
        order by given.key
        limit v_most_keys
    )
    select array_agg(asked.key order by asked.key) into v_keys
    from asked
    where not exists (
        select from pgclarify_private.document
        where
            document.corpus_id = tell_unknown_keys.corpus_id
            and pgclarify_private.may_read(document, tell_unknown_keys.roles, v_fence)
            and document.metadata @@ asked.condition
    );
    if v_keys is not null then
        raise notice 'no document that you may read has metadata %', pgclarify_private.shown(array_to_string(v_keys, ', '))
            using detail = 'The filter asks for it.',
                hint = 'See what there is with: select distinct jsonb_object_keys(metadata) from pgclarify.document.';
    end if;
end
$$;

comment on function pgclarify_private.tell_unknown_keys(bigint, name[], jsonb) is
'A notice about keys of a filter that no document has which these roles may read.';
