-- Statements on users' tables. The planner evaluates constant expressions of a table's indexes, constraints and statistics.
-- These are code of the table's owner, who can create such an index after our check (code_problems) and before the planning. So
-- each owner of attached tables has a separate role, a table reader, with rights to read the attached tables of that owner and
-- nothing else. Each table reader owns one function, which reads. It has no rights on our schema, so it can neither call nor
-- change its function.

create or replace function pgclarify_private.table_reader_suffix(owner oid)
returns text
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- In another cluster, the number may be that of another role; then the name is different.
    select format('%s_%s', pg_roles.oid, left(encode(sha256(convert_to(pg_roles.rolname, 'UTF8')), 'hex'), 8))
    from pg_catalog.pg_roles
    where pg_roles.oid = table_reader_suffix.owner;
end;

comment on function pgclarify_private.table_reader_suffix(oid) is
'Suffix of the names of a table reader and its function: oid and hashed name of the role whose tables it reads. Null if that '
'role does not exist.';

create or replace function pgclarify_private.table_reader_of(relation oid)
returns name
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select ('pgclarify_reads_' || pgclarify_private.table_reader_suffix(pg_class.relowner))::name
    from pg_catalog.pg_class
    where pg_class.oid = table_reader_of.relation;
end;

comment on function pgclarify_private.table_reader_of(oid) is
'Name of the role that reads attached tables of this table''s owner, even if it does not exist.';

create or replace function pgclarify_private.table_reader_function_of(owner oid)
returns name
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- After a restore, functions of missing roles belong to another role.
    select pg_proc.proname
    from pg_catalog.pg_proc
    cross join lateral pgclarify_private.table_reader_suffix(table_reader_function_of.owner) as suffix
    where
        pg_proc.pronamespace = 'pgclarify_private'::regnamespace
        and pg_proc.proname = 'read_' || suffix
        and pg_proc.prosecdef
        and pg_get_userbyid(pg_proc.proowner) = 'pgclarify_reads_' || suffix;
end;

comment on function pgclarify_private.table_reader_function_of(oid) is
'Name of the function, in schema pgclarify_private, that reads attached tables of this role; null if there is none.';

create or replace function pgclarify_private.table_reader_function(relation oid)
returns name
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.table_reader_function_of(pg_class.relowner)
    from pg_catalog.pg_class
    where pg_class.oid = table_reader_function.relation;
end;

comment on function pgclarify_private.table_reader_function(oid) is
'Name of the function, in schema pgclarify_private, that reads attached tables of this table''s owner; null if there '
'is none.';

create or replace function pgclarify_private.make_table_reader(owner oid)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = 'warning'
-- The first table of an owner waits for the first table of another owner, but not forever.
set lock_timeout = '5s'
as $$
declare
    v_suffix constant text := pgclarify_private.table_reader_suffix(make_table_reader.owner);
    v_signature text;
    v_reader name;
    v_propagation text;
begin
    if v_suffix is null or pgclarify_private.table_reader_function_of(make_table_reader.owner) is not null then
        return;
    end if;
    v_signature := format('pgclarify_private.%I(text, text[], text[], integer, bigint)', 'read_' || v_suffix);
    begin
        -- Two transactions cannot change the rights on a schema at the same time.
        perform from pgclarify_private.applied_sql for update;
        if pgclarify_private.table_reader_function_of(make_table_reader.owner) is not null then
            return;
        end if;
        v_propagation := pgclarify_private.set_ddl_propagation('off');
        loop
            begin
                v_reader := pgclarify_private.make_reader_role(make_table_reader.owner);
                -- Only for this moment: the new owner of a function must be able to create one.
                execute format('grant create on schema pgclarify_private to %I', v_reader);
                exit;
            exception
                when undefined_object then
                    -- Another database, which used the role as well, has just dropped it. Once it has a right here, none can.
                    null;
            end;
        end loop;
    exception
        when lock_not_available then
            raise exception 'another transaction attaches the first table of a role'
                using errcode = 'lock_not_available',
                    detail = 'Only one transaction at a time can make the role that reads an owner''s tables. It may be one of '
                        'another database of this server.',
                    hint = 'Call it again when that transaction has ended.';
    end;
    execute format('drop function if exists %s', v_signature);
    -- All effects of code of the table's owner are undone: what it writes and sets, and deferred triggers, which the session's
    -- own role would run at commit. An error text may contain data that the caller may not read, so only its code is passed on,
    -- and only if that code has no special meaning in our functions.
    execute format(
        $statement$
create function %s returns setof record language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set row_security = off
set client_min_messages = 'error'
as $body$
declare
    v_is_read boolean := false;
    v_state text;
begin
    begin
        return query execute $1 using $2, $3, $4, $5;
        v_is_read := true;
        raise exception using errcode = 'PC000';
    exception
        when others or query_canceled or assert_failure then
            get stacked diagnostics v_state = returned_sqlstate;
    end;
    if not v_is_read then
        raise exception 'rows of the table cannot be read'
            using errcode = case
                    when v_state ~ '^(2[123]|4[02]|5[3458]|0A|57014)' then v_state else 'external_routine_exception'
                end,
                detail = format('Reading it ends with SQLSTATE %%s.', v_state),
                hint = 'Select its rows yourself: you see the whole error if you may read the table.';
    end if;
end
$body$
        $statement$,
        v_signature
    );
    execute format('revoke execute on function %s from public', v_signature);
    execute format(
        'comment on function %s is %L', v_signature,
        format(
            'Execute a statement on tables of role %s, with the other parameters as $1 to $4, and return its rows.',
            pg_get_userbyid(make_table_reader.owner)
        )
    );
    execute format('alter function %s owner to %I', v_signature, v_reader);
    execute format('revoke all on schema pgclarify_private from %I', v_reader);
    -- Membership would also give pgclarify_owner the right, but not if inheritance is switched off.
    execute format('grant execute on function %s to pgclarify_owner', v_signature);
    perform pgclarify_private.set_ddl_propagation(v_propagation);
end
$$;

comment on function pgclarify_private.make_table_reader(oid) is
'Create the role and the function that read attached tables of this role, if they do not exist; nothing if the role does not '
'exist. Until the transaction ends, no other one can do that for another role.';

create or replace function pgclarify_private.make_table_reader_apart(relation oid)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner constant oid := (select pg_class.relowner from pg_class where pg_class.oid = make_table_reader_apart.relation);
begin
    if pgclarify_private.table_reader_function_of(v_owner) is null then
        perform pgclarify_private.loopback_call('make_table_reader', to_jsonb(v_owner::bigint));
    end if;
exception
    -- make_table_reader says what is wrong, if it cannot do it in this transaction either.
    when sqlstate 'PC005' or sqlstate '2F003' or connection_exception or lock_not_available then
        null;
end
$$;

comment on function pgclarify_private.make_table_reader_apart(oid) is
'Call make_table_reader for the owner of this table in a separate transaction, so that this one keeps no other role from '
'attaching its first table. Nothing without the loopback, or if the owner is not committed yet: then make_table_reader has to '
'be called in this transaction. Called with a row of source written: so long, no worker drops the new reader.';

create or replace function pgclarify_private.drop_idle_table_reader()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- A transaction that attaches a table meanwhile waits for the lock.
set lock_timeout = '500ms'
as $$
declare
    v_is_locked boolean := false;
    v_function name;
begin
    loop
        select pg_proc.proname into v_function
        from pg_proc
        where
            pg_proc.pronamespace = 'pgclarify_private'::regnamespace
            and pg_proc.proname ~ '^read_[0-9]+_[0-9a-f]{8}$'
            and not exists (
                select from pgclarify_private.source
                inner join pg_class on source.relation = pg_class.oid
                where
                    source.state not in ('detached', 'removing')
                    and pg_proc.proname = 'read_' || pgclarify_private.table_reader_suffix(pg_class.relowner)
            )
        order by pg_proc.proname
        limit 1;
        if v_function is null then
            return null;
        end if;
        exit when v_is_locked;
        -- Check again: a transaction that attaches a table has changed this one, or another worker has dropped the function.
        lock table pgclarify_private.source in share row exclusive mode;
        v_is_locked := true;
    end loop;
    execute format('drop function pgclarify_private.%I', v_function);
    perform pgclarify_private.drop_reader_role(replace(v_function, 'read_', 'pgclarify_reads_'));
    return v_function;
end
$$;

comment on function pgclarify_private.drop_idle_table_reader() is
'Drop one function that reads tables of an owner without attached tables, and return its name; null if there is none. It '
'also drops its role, unless that role can still read something, here or in another database. Error 55P03 if a table is '
'being attached for longer than half a second.';
grant execute on function pgclarify_private.drop_idle_table_reader() to pgclarify_worker;
