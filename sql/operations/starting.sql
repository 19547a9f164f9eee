-- Every operation can be called with waiting, or submitted without waiting. Both ways take the same arguments.

create or replace function pgclarify_private.parameters(operation text)
returns table (name text, type text, is_required boolean, ordinal bigint)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select
        parameter.name, pg_catalog.format_type(parameter.type, null),
        parameter.ordinal <= prepare.pronargs - prepare.pronargdefaults, parameter.ordinal
    from pg_catalog.pg_proc as prepare
    cross join lateral unnest(prepare.proargnames, prepare.proargtypes::oid[]) with ordinality
        as parameter (name, type, ordinal)
    where prepare.pronamespace = 'pgclarify_private'::regnamespace
        and prepare.proname = 'prepare_' || parameters.operation
        -- The first parameter is the caller.
        and parameter.ordinal > 1;
end;

comment on function pgclarify_private.parameters(text) is
'The arguments of an operation without waiting: the parameters of its function prepare_<operation>.';

create or replace function pgclarify_private.check_argument(name text, type text, given jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kind constant text := jsonb_typeof(check_argument.given);
    v_wanted text;
begin
    if v_kind = 'null' then
        return check_argument.given;
    end if;
    case check_argument.type
        when 'text' then
            v_wanted := case when v_kind <> 'string' then 'a JSON string' end;
        when 'jsonb' then
            v_wanted := case when v_kind <> 'object' then 'a JSON object' end;
        when 'text[]' then
            if v_kind <> 'array' or exists (
                select from jsonb_array_elements(check_argument.given) as element (value)
                where jsonb_typeof(element.value) not in ('string', 'null')
            ) then
                v_wanted := 'a JSON array of strings';
            end if;
        else
            if v_kind = 'number'
                and trunc(check_argument.given::numeric) = check_argument.given::numeric
                and abs(check_argument.given::numeric)
                    <= (case check_argument.type when 'integer' then 2147483647 else 9223372036854775807 end) then
                -- 20.0 is the same number as 20.
                return to_jsonb(trunc(check_argument.given::numeric));
            end if;
            v_wanted := 'a whole number';
    end case;
    if v_wanted is not null then
        raise exception 'argument "%" has a wrong value', check_argument.name
            using errcode = 'invalid_parameter_value',
                column = check_argument.name,
                detail = format('It is %s.', pgclarify_private.shown(check_argument.given::text)),
                hint = format('Pass %s.', v_wanted);
    end if;
    return check_argument.given;
end
$$;

comment on function pgclarify_private.check_argument(text, text, jsonb) is
'One argument of an operation as JSON, in the form that is cast to its type; or error 22023.';

create or replace function pgclarify_private.check_arguments(operation text, arguments jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_arguments jsonb := '{}';
    v_known record;
    v_wrong text;
    v_near text;
begin
    if not exists (
        select from pgclarify_private.operations() as known where known.operation = check_arguments.operation
    ) then
        raise exception 'unknown operation "%"', coalesce(pgclarify_private.shown(check_arguments.operation), 'null')
            using errcode = 'invalid_parameter_value',
                detail = (
                    select format('The operations are: %s.', string_agg(known.operation, ', ' order by known.operation))
                    from pgclarify_private.operations() as known
                ),
                hint = 'Name its function, for example: pgclarify.submit(''clarify'', ''rental cars'').';
    end if;
    select given.name into v_wrong
    from jsonb_object_keys(check_arguments.arguments) as given (name)
    where given.name not in (
        select known.name from pgclarify_private.parameters(check_arguments.operation) as known
    )
    order by given.name
    limit 1;
    if found then
        v_near := pgclarify_private.nearest_name(
            v_wrong, array(select known.name from pgclarify_private.parameters(check_arguments.operation) as known)
        );
        raise exception '% has no argument "%"', check_arguments.operation, pgclarify_private.shown(v_wrong)
            using errcode = 'invalid_parameter_value',
                detail = (
                    select format('Its arguments are: %s.', string_agg(known.name, ', ' order by known.ordinal))
                    from pgclarify_private.parameters(check_arguments.operation) as known
                ),
                hint = case
                    when v_near is null then 'An option goes into "options": {"options": {"method": "dense"}}.'
                    else format('Did you mean "%s"?', v_near)
                end;
    end if;
    for v_known in select known.* from pgclarify_private.parameters(check_arguments.operation) as known loop
        if check_arguments.arguments ? v_known.name then
            v_arguments := v_arguments || jsonb_build_object(
                v_known.name,
                pgclarify_private.check_argument(v_known.name, v_known.type, check_arguments.arguments -> v_known.name)
            );
        elsif v_known.is_required then
            raise exception '% needs argument "%"', check_arguments.operation, v_known.name
                using errcode = 'invalid_parameter_value',
                    column = v_known.name,
                    hint = format('Pass ''{"%s": …}''.', v_known.name);
        end if;
    end loop;
    return v_arguments;
end
$$;

comment on function pgclarify_private.check_arguments(text, jsonb) is
'Arguments of an operation, or error 22023 that lists the valid ones.';

create or replace function pgclarify_private.prepare(
    caller pgclarify_private.caller, operation text, arguments jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_arguments constant jsonb := pgclarify_private.check_arguments(prepare.operation, prepare.arguments);
    v_statement text;
    v_run pgclarify_private.run;
begin
    select
        format(
            'select prepared.* from jsonb_to_record($2) as given (%s)'
            ' cross join pgclarify_private.%I(caller => $1%s) as prepared',
            string_agg(format('%I %s', known.name, known.type), ', '),
            'prepare_' || prepare.operation,
            -- Omitted arguments have the defaults of the function.
            string_agg(format(', %1$I => given.%1$I', known.name), '') filter (where v_arguments ? known.name)
        )
    into v_statement
    from pgclarify_private.parameters(prepare.operation) as known;
    execute v_statement into v_run using prepare.caller, v_arguments;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare(pgclarify_private.caller, text, jsonb) is
'The run of an operation with these arguments, by prepare_<operation>; or error 22023, or an error of that function.';

create or replace function pgclarify_private.start_and_wait(
    caller pgclarify_private.caller, operation text, arguments jsonb
)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_requester constant name := pgclarify_private.verify_caller(start_and_wait.caller);
    v_run constant pgclarify_private.run := pgclarify_private.prepare(
        start_and_wait.caller, start_and_wait.operation, start_and_wait.arguments - 'timeout'
    );
    -- The timeout is an argument if null (no limit) is allowed; otherwise it is an option.
    v_timeout constant interval := case
        when start_and_wait.arguments ? 'timeout' then (start_and_wait.arguments ->> 'timeout')::interval
        else pgclarify_private.timeout(v_run.settings ->> 'timeout')
    end;
    v_run_ids bigint[];
    v_row_type regtype;
begin
    v_run_ids := pgclarify_private.ask_one(start_and_wait.caller, v_run, v_timeout);
    select ('pgclarify.' || known.row_type)::regtype into v_row_type
    from pgclarify_private.operations() as known
    where known.operation = start_and_wait.operation;
    return case
        when pgclarify_private.is_out_of_sight(v_run_ids)
            then pgclarify_private.remote_rows(v_row_type, v_run_ids, v_requester)
        else pgclarify_private.rows_in_json(v_row_type, v_run_ids, v_requester)
    end;
end
$$;

comment on function pgclarify_private.start_and_wait(pgclarify_private.caller, text, jsonb) is
'Enter a run, wait, and return the rows of the operation''s type as a JSON array; null if there are none. arguments: those '
'of the public function, by name.';
grant execute on function pgclarify_private.start_and_wait(pgclarify_private.caller, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.named_arguments(operation text, question text, corpus text, options jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_options jsonb := coalesce(named_arguments.options, '{}');
    v_parameters constant text[] := array(
        select known.name
        from pgclarify_private.parameters(named_arguments.operation) as known
        where known.name not in ('question', 'options')
    );
    v_arguments jsonb;
begin
    if jsonb_typeof(v_options) <> 'object' then
        raise exception 'options must be a JSON object'
            using errcode = 'invalid_parameter_value',
                detail = format('It is a JSON %s.', jsonb_typeof(v_options)),
                hint = 'Pass options => ''{"name": "value"}''.';
    end if;
    if v_options ? 'timeout' then
        raise exception 'an operation that is submitted has no timeout'
            using errcode = 'invalid_parameter_value',
                hint = 'Omit it, and pass it to pgclarify.wait.';
    end if;
    if named_arguments.corpus is not null then
        -- For some operations, the corpus is a parameter; for others it is an option.
        v_options := v_options || jsonb_build_object('corpus', named_arguments.corpus);
    end if;
    select coalesce(jsonb_object_agg(given.key, given.value), '{}') into v_arguments
    from jsonb_each(v_options) as given
    where given.key = any(v_parameters);
    v_options := v_options - v_parameters;
    if v_options <> '{}' then
        v_arguments := v_arguments || jsonb_build_object('options', v_options);
    end if;
    if named_arguments.question is not null then
        v_arguments := v_arguments || jsonb_build_object('question', named_arguments.question);
    end if;
    return v_arguments;
end
$$;

comment on function pgclarify_private.named_arguments(text, text, text, jsonb) is
'The arguments of an operation by name. options: its options, and its parameters other than the question.';
