-- Changes of an attached table itself, made with its owner's rights: grants and triggers.

create or replace function pgclarify_private.lock_sources(relations oid[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_owner oid;
begin
    for v_owner in
        select distinct pg_class.relowner
        from pg_class
        where pg_class.oid = any(lock_sources.relations)
        order by pg_class.relowner
    loop
        -- One row that always exists: locks on the owner's sources themselves would deadlock, because their number changes while
        -- transactions wait.
        insert into pgclarify_private.table_owner (owner_oid) values (v_owner)
        on conflict on constraint table_owner_pk do nothing;
        perform from pgclarify_private.table_owner where table_owner.owner_oid = v_owner for update;
    end loop;
end
$$;

comment on function pgclarify_private.lock_sources(oid[]) is
'Let no other transaction attach, compare or detach tables of the owners of these. One table reader reads the tables of an '
'owner, so a transaction that sees which rights it needs must not miss what another one attaches or detaches.';

create or replace function pgclarify_private.owned_source(caller pgclarify_private.caller, corpus text, relation oid)
returns pgclarify_private.source
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(owned_source.caller, owned_source.corpus);
    v_source pgclarify_private.source;
begin
    if owned_source.relation is null then
        raise exception 'no table is named'
            using errcode = 'invalid_parameter_value',
                detail = 'Parameter relation is null.',
                hint = 'List what is attached: select corpus, relation, relation_oid from pgclarify.source_status.';
    end if;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    perform pgclarify_private.lock_sources(array[owned_source.relation]);
    select source.* into v_source
    from pgclarify_private.source
    where source.corpus_id = v_corpus.corpus_id and source.relation = owned_source.relation::regclass
    for update;
    if not found then
        raise exception 'table "%" is not attached to corpus "%"', owned_source.relation::regclass, v_corpus.name
            using errcode = 'undefined_object',
                detail = 'A dropped table is named by its number, even if another table has its name now.',
                hint = 'List what is attached: select corpus, relation, relation_oid from pgclarify.source_status.';
    end if;
    return v_source;
end
$$;

comment on function pgclarify_private.owned_source(pgclarify_private.caller, text, oid) is
'The source of a corpus that the caller may change, locked with its corpus locked; error 42704 if there is none.';

create or replace function pgclarify_private.source_steps(caller pgclarify_private.caller, corpus text, relation oid)
returns table (is_grant boolean, table_name text, statement text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source := pgclarify_private.owned_source(
        source_steps.caller, source_steps.corpus, source_steps.relation
    );
begin
    return query
        select step.is_grant, v_source.relation::text, step.statement
        from (
            select true, missing.statement, missing.place
            from pgclarify_private.missing_grants(v_source) with ordinality as missing (statement, place)
            union all
            select false, missing.statement, missing.place
            from pgclarify_private.missing_triggers(v_source) with ordinality as missing (relation, statement, place)
            -- Another role may own a partition; its truncation is still noticed, but later.
            inner join pg_class on missing.relation = pg_class.oid
            where
                missing.relation = v_source.relation
                or pg_has_role(pgclarify_private.verify_caller(source_steps.caller), pg_class.relowner, 'usage')
        ) as step (is_grant, statement, place)
        order by step.is_grant desc, step.place;
    if found then
        perform pgclarify_private.raise_problem(found.code, found.message, found.detail, found.hint)
        from pgclarify_private.ownership_problems(v_source, pgclarify_private.verify_caller(source_steps.caller)) as found;
    end if;
end
$$;

comment on function pgclarify_private.source_steps(pgclarify_private.caller, text, oid) is
'Statements that an attached table still needs, for the caller to execute with its own rights: grants, then triggers, with '
'the name of the table.';
grant execute on function pgclarify_private.source_steps(pgclarify_private.caller, text, oid) to pgclarify_user;

create or replace function pgclarify_private.verify_locked(
    caller pgclarify_private.caller, corpus text, relation oid, locked_name text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception 'triggers cannot be made in a % transaction', current_setting('transaction_isolation')
            using errcode = 'feature_not_supported',
                detail = 'It would not see what the owner of the table has changed since it began.',
                hint = 'Begin the transaction with: begin isolation level read committed.';
    end if;
    v_source := pgclarify_private.owned_source(verify_locked.caller, verify_locked.corpus, verify_locked.relation);
    if v_source.relation::text <> verify_locked.locked_name
        or not exists (
            select from pg_locks
            where
                pg_locks.pid = pg_backend_pid()
                and pg_locks.locktype = 'relation'
                and pg_locks.relation = v_source.relation
                and pg_locks.mode = 'ShareRowExclusiveLock'
                and pg_locks.granted
        ) then
        raise exception 'table "%" has another name now', verify_locked.locked_name
            using errcode = 'serialization_failure',
                detail = format('While this call waited for a lock, it became "%s".', v_source.relation),
                hint = 'Call it again.';
    end if;
    -- PostgreSQL evaluates the partition key of each partitioned partition when it makes a row trigger. With a unique index, no
    -- key is an expression, and the lock keeps the index.
    perform pgclarify_private.raise_problem(found.code, found.message, found.detail, found.hint)
    from pgclarify_private.source_problems(v_source) as found;
end
$$;

comment on function pgclarify_private.verify_locked(pgclarify_private.caller, text, oid, text) is
'Check an attached table again after the caller has locked it, so that making its triggers runs no code of its owner: error '
'40001 if it was renamed, or the error of a problem that is new.';
grant execute on function pgclarify_private.verify_locked(pgclarify_private.caller, text, oid, text) to pgclarify_user;

create or replace function pgclarify_private.take_steps(
    caller pgclarify_private.caller, corpus text, relation oid, is_dry_run boolean
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_step text;
    v_grants text[];
    v_table text;
    v_triggers text[];
    -- Set here, with the caller's rights: the function that others use is not for users.
    v_propagation constant text := current_setting('citus.enable_ddl_propagation', true);
begin
    for v_attempt in 1 .. 10 loop
        select
            coalesce(array_agg(step.statement) filter (where step.is_grant), '{}'),
            coalesce(array_agg(step.statement) filter (where not step.is_grant), '{}'),
            min(step.table_name)
        into v_grants, v_triggers, v_table
        from pgclarify_private.source_steps(take_steps.caller, take_steps.corpus, take_steps.relation) as step;
        exit when take_steps.is_dry_run;
        begin
            -- The nodes of a cluster do not have the role that reads the table.
            perform set_config('citus.enable_ddl_propagation', 'off', true) where v_propagation is not null;
            foreach v_step in array v_grants loop
                execute v_step;
            end loop;
            perform set_config('citus.enable_ddl_propagation', v_propagation, true) where v_propagation is not null;
            exit;
        exception
            -- PostgreSQL does not let two transactions change the rights on a schema or a table at the same time. This one has
            -- waited for the other one, which may have granted what was missing.
            when internal_error then
                if v_attempt = 10 then
                    raise;
                end if;
        end;
    end loop;
    if take_steps.is_dry_run then
        -- The number of the source is not known yet.
        raise notice 'it would be done with your rights; N is the number of the source'
            using detail = regexp_replace(
                array_to_string(v_grants || v_triggers, E';\n') || ';',
                '( trigger pgclarify_| pgclarify_private\.capture_)\d+', '\1N', 'g'
            );
        return;
    end if;
    if cardinality(v_triggers) > 0 then
        -- Creating a trigger needs this lock, too. Since the check of the table, its owner may have changed it.
        execute format('lock table only %s in share row exclusive mode', v_table);
        perform pgclarify_private.verify_locked(take_steps.caller, take_steps.corpus, take_steps.relation, v_table);
    end if;
    foreach v_step in array v_triggers loop
        execute v_step;
    end loop;
end
$$;

comment on function pgclarify_private.take_steps(pgclarify_private.caller, text, oid, boolean) is
'Make grants and triggers that an attached table needs, with the caller''s own rights. It reads no row, because that could '
'run code of the table''s owner in the caller''s session. A dry run only reports the statements.';
grant execute on function pgclarify_private.take_steps(pgclarify_private.caller, text, oid, boolean) to pgclarify_user;

create or replace function pgclarify_private.attach_table_as_caller(
    caller pgclarify_private.caller, corpus text, relation regclass, id_column text, content_column text, options jsonb
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_is_dry_run boolean := coalesce(attach_table_as_caller.options -> 'dry_run' = 'true', false);
    v_former constant record := pgclarify_private.former_grants(
        attach_table_as_caller.caller, attach_table_as_caller.corpus, attach_table_as_caller.relation
    );
    v_source_id bigint;
begin
    begin
        v_source_id := pgclarify_private.attach_table(
            attach_table_as_caller.caller, attach_table_as_caller.corpus, attach_table_as_caller.relation,
            attach_table_as_caller.id_column, attach_table_as_caller.content_column, attach_table_as_caller.options
        );
        if not v_is_dry_run then
            perform pgclarify_private.take_back(attach_table_as_caller.caller, v_former.former, spare.statement)
            from unnest(v_former.statements) as spare (statement);
        end if;
        if v_source_id is not null then
            perform pgclarify_private.take_steps(
                attach_table_as_caller.caller, attach_table_as_caller.corpus, attach_table_as_caller.relation, v_is_dry_run
            );
        end if;
        if v_is_dry_run then
            raise exception 'done' using errcode = 'PC000';
        end if;
    exception
        -- What was made for the report is undone.
        when sqlstate 'PC000' then
            return null;
    end;
    return v_source_id;
end
$$;

comment on function pgclarify_private.attach_table_as_caller(pgclarify_private.caller, text, regclass, text, text, jsonb) is
'See attach_table. It runs with the rights of the caller.';
grant execute on function pgclarify_private.attach_table_as_caller(
    pgclarify_private.caller, text, regclass, text, text, jsonb
) to pgclarify_user;
