-- Granting a role access to a corpus, and revoking it: the SQL statements, which run with the caller's rights.

create or replace function pgclarify_private.lock_access(caller pgclarify_private.caller, corpus text, role name, access text)
returns pgclarify_private.corpus
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(lock_access.caller, lock_access.corpus);
begin
    if lock_access.access is null or lock_access.access not in ('reader', 'user', 'analyst') then
        raise exception 'there is no access "%"', pgclarify_private.shown(lock_access.access)
            using errcode = 'invalid_parameter_value',
                hint = 'Pass reader (may read), user (may ask) or analyst (sees all runs).';
    end if;
    perform pgclarify_private.check_roles_exist(array[coalesce(lock_access.role, '')]);
    if starts_with(lock_access.role, 'pg_') or lock_access.role in (
        'pgclarify_owner', 'pgclarify_views', 'pgclarify_worker', 'pgclarify_loopback', 'pgclarify_capture',
        'pgclarify_role_maker'
    ) or pgclarify_private.is_table_reader((select pg_roles.oid from pg_roles where pg_roles.rolname = lock_access.role)) then
        raise exception 'role "%" is granted nothing', lock_access.role
            using errcode = 'invalid_parameter_value',
                detail = 'It belongs to PostgreSQL or to pgclarify itself.',
                hint = 'Name a login role, or a group of your own; or pgclarify_user, for every role that may ask.';
    end if;
    -- These two are given no right but the place of the corpus's reader.
    if (lock_access.role, lock_access.access) in (
        ('pgclarify_reader', 'user'), ('pgclarify_reader', 'analyst'), ('pgclarify_user', 'analyst')
    ) then
        raise exception 'role "%" is not granted the access "%"', lock_access.role, lock_access.access
            using errcode = 'invalid_parameter_value',
                detail = 'pgclarify_user can be granted reader or user, and pgclarify_reader only reader.',
                hint = 'Name a login role, or a group of your own.';
    end if;
    -- Concurrent grants wait for each other; otherwise both would create a group. Adding documents is not blocked.
    perform from pgclarify_private.corpus where corpus.corpus_id = v_corpus.corpus_id for no key update;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    select locked.* into strict v_corpus from pgclarify_private.corpus as locked where locked.corpus_id = v_corpus.corpus_id;
    return v_corpus;
end
$$;

comment on function pgclarify_private.lock_access(pgclarify_private.caller, text, name, text) is
'The current row of the corpus, if the caller may change it. No other transaction changes access to it until this one ends. '
'Errors 42501, 42704, and 22023 for an access or a role that cannot be used.';

create or replace function pgclarify_private.grant_statement(granted name, role name)
returns text
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select format('grant %I to %I', grant_statement.granted, grant_statement.role)
        || case
            when exists (
                select from pg_catalog.pg_roles as member
                where
                    member.rolname = grant_statement.role
                    and (
                        not member.rolinherit
                        or exists (
                            select from pg_catalog.pg_roles as known
                            where
                                known.rolname = grant_statement.granted
                                and pg_has_role(member.oid, known.oid, 'member')
                        )
                    )
            ) then ' with inherit true'
            else ''
        end;
end;

comment on function pgclarify_private.grant_statement(name, name) is
'The statement that gives role the rights of granted. It may be a member already without having the rights.';

create or replace function pgclarify_private.grant_statements(
    caller pgclarify_private.caller, corpus text, role name, access text
)
returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.lock_access(
        grant_statements.caller, grant_statements.corpus, grant_statements.role, grant_statements.access
    );
    v_kind text := case grant_statements.access when 'analyst' then 'analyst' else 'reader' end;
    v_named name := case v_kind when 'analyst' then v_corpus.analyst else v_corpus.reader end;
    v_general name := case grant_statements.access when 'user' then 'pgclarify_user' else 'pgclarify_reader' end;
    v_roles name[] := pgclarify_private.roles_of(grant_statements.role);
    v_is_general boolean := grant_statements.role in ('pgclarify_reader', 'pgclarify_user');
    v_group name := v_named;
begin
    if exists (select from pg_roles where rolname = grant_statements.role and rolsuper) then
        raise exception 'role "%" is a superuser, which is granted nothing', grant_statements.role
            using errcode = 'invalid_parameter_value',
                detail = 'It has all rights already. As a member, it could also use them over the network.',
                hint = 'Create a login role for the people who read or ask: create role … login.';
    end if;
    if not v_general = any(v_roles) then
        return next pgclarify_private.grant_statement(v_general, grant_statements.role);
    end if;
    if v_general = 'pgclarify_reader' and 'pgclarify_user'::name = any(v_roles) and not v_is_general then
        raise notice 'role "%" may ask as well: it has the rights of pgclarify_user', grant_statements.role;
    end if;
    -- The statement above gives it these.
    v_roles := v_roles || pgclarify_private.roles_of(v_general);
    if v_named = any(v_roles) then
        if v_kind = 'reader' and v_named in ('pgclarify_reader', 'pgclarify_user') and not v_is_general then
            raise notice 'corpus "%" is open to every member of %, and stays so', v_corpus.name, v_named
                using hint = format(
                    'To close it: select pgclarify.revoke_access(%L, %L).', v_corpus.name, v_named
                );
        end if;
        return;
    end if;
    -- Opening a corpus to all needs no group, and so no right to create roles, unless a role would lose access by it.
    if v_is_general and (
        v_named is null
        or grant_statements.role = any(pgclarify_private.roles_of(v_named))
        or not exists (select from pg_roles where rolname = v_named)
    ) then
        return next format(
            'select pgclarify.alter_corpus(%L, %L)', v_corpus.name, jsonb_build_object(v_kind, grant_statements.role)
        );
        return;
    end if;
    if not coalesce(pgclarify_private.is_group(v_named, v_kind, v_corpus.corpus_id), false) then
        -- The present role may be a person, or a team with other rights. So that role becomes a member of the new group; the
        -- others do not become members of that role.
        v_group := pgclarify_private.new_group(v_kind, v_corpus);
        return next format('create role %I nologin', v_group);
        return next format('comment on role %I is %L', v_group, pgclarify_private.group_mark(v_kind, v_corpus.corpus_id));
        if exists (select from pg_roles where rolname = v_named) then
            return next pgclarify_private.grant_statement(v_group, v_named);
        end if;
        return next format(
            'select pgclarify.alter_corpus(%L, %L)', v_corpus.name, jsonb_build_object(v_kind, v_group)
        );
    end if;
    return next pgclarify_private.grant_statement(v_group, grant_statements.role);
end
$$;

comment on function pgclarify_private.grant_statements(pgclarify_private.caller, text, name, text) is
'The statements that grant_access executes with the caller''s rights; none if the role has that access. Notices report other '
'access that the role has.';
grant execute on function pgclarify_private.grant_statements(pgclarify_private.caller, text, name, text) to pgclarify_user;

create or replace function pgclarify_private.revoke_statements(
    caller pgclarify_private.caller, corpus text, role name, access text
)
returns setof text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.lock_access(
        revoke_statements.caller, revoke_statements.corpus, revoke_statements.role, revoke_statements.access
    );
    v_kind text := case revoke_statements.access when 'analyst' then 'analyst' else 'reader' end;
    v_named name := case v_kind when 'analyst' then v_corpus.analyst else v_corpus.reader end;
    v_general name := case revoke_statements.access when 'user' then 'pgclarify_user' else 'pgclarify_reader' end;
    v_roles name[] := pgclarify_private.roles_of(revoke_statements.role);
    v_is_general boolean := revoke_statements.role in ('pgclarify_reader', 'pgclarify_user');
    v_revoking text;
    v_grantor name;
    v_other name;
begin
    if v_general = any(v_roles) and not v_is_general then
        -- It may have these rights only as a member of another role.
        select string_agg(distinct format('revoke %I from %I', granted.rolname, member.rolname), '; ')
        into v_revoking
        from pg_roles as member
        inner join pg_auth_members as membership on membership.member = member.oid
        inner join pg_roles as granted on granted.oid = membership.roleid
        where
            member.rolname = revoke_statements.role
            and granted.rolname = any(v_roles)
            and v_general = any(pgclarify_private.roles_of(granted.rolname));
        raise notice 'role "%" keeps %, and with it corpora that are open to all', revoke_statements.role, v_general
            using hint = coalesce(
                'Take it with: ' || v_revoking || '.', 'It is a superuser, who has the rights of every role.'
            );
    end if;
    if v_is_general and v_named = revoke_statements.role then
        return next format('select pgclarify.alter_corpus(%L, %L)', v_corpus.name, jsonb_build_object(v_kind, null));
        return;
    end if;
    if pgclarify_private.is_group(v_named, v_kind, v_corpus.corpus_id) then
        for v_grantor in
            select pg_get_userbyid(membership.grantor)
            from pg_auth_members as membership
            where
                membership.roleid = (select oid from pg_roles where rolname = v_named)
                and membership.member = (select oid from pg_roles where rolname = revoke_statements.role)
        loop
            return next format('revoke %I from %I', v_named, revoke_statements.role)
                -- Grants of superusers are recorded in the name of the first superuser.
                || case
                    when v_grantor <> (revoke_statements.caller).name then format(' granted by %I', v_grantor)
                    else ''
                end;
        end loop;
    end if;
    select other.name into v_other
    from unnest(v_roles) as other (name)
    where
        (
            v_named = any(pgclarify_private.roles_of(other.name))
            and (
                other.name not in (revoke_statements.role, v_named)
                or not pgclarify_private.is_group(v_named, v_kind, v_corpus.corpus_id)
            )
        )
        or (v_kind = 'reader' and other.name = v_corpus.owner)
    order by other.name
    limit 1;
    if found then
        raise notice 'role "%" has that access still, by the rights of "%"', revoke_statements.role, v_other;
    end if;
end
$$;

comment on function pgclarify_private.revoke_statements(pgclarify_private.caller, text, name, text) is
'The statements that revoke_access executes with the caller''s rights; none if grant_access has granted nothing. Notices '
'report the access that the role keeps.';
grant execute on function pgclarify_private.revoke_statements(pgclarify_private.caller, text, name, text) to pgclarify_user;

create or replace function pgclarify_private.execute_as_granter(caller pgclarify_private.caller, statement text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_message text;
    v_detail text;
    v_propagation text := current_setting('citus.enable_ddl_propagation', true);
begin
    -- On the nodes of a cluster, the caller may have no login, and who reads a corpus here needs no right there.
    perform set_config('citus.enable_ddl_propagation', 'off', true) where v_propagation is not null;
    execute execute_as_granter.statement;
    perform set_config('citus.enable_ddl_propagation', v_propagation, true) where v_propagation is not null;
exception
    when insufficient_privilege then
        get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail;
        raise exception 'role "%" may not do that', (execute_as_granter.caller).name
            using errcode = 'insufficient_privilege',
                detail = format('%s: %s. %s', execute_as_granter.statement, v_message, v_detail),
                hint = 'Only a superuser can, or a role with CREATEROLE that has the admin option on the roles named there. The '
                    'owner of a corpus needs neither to name one reader, such as pgclarify_user: select '
                    'pgclarify.alter_corpus(''name'', ''{"reader": "ROLE"}'').';
end
$$;

comment on function pgclarify_private.execute_as_granter(pgclarify_private.caller, text) is
'Execute a statement with the caller''s own rights; error 42501 contains the statement.';
grant execute on function pgclarify_private.execute_as_granter(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify.grant_access(corpus text, role name, access text default 'reader')
returns setof text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller pgclarify_private.caller;
    v_statement text;
begin
    select signed.* into v_caller from pgclarify_private.caller as signed;
    for v_statement in
        select planned.statement
        from pgclarify_private.grant_statements(
            v_caller, grant_access.corpus, grant_access.role, grant_access.access
        ) as planned (statement)
    loop
        perform pgclarify_private.execute_as_granter(v_caller, v_statement);
        return next v_statement;
    end loop;
end
$$;

comment on function pgclarify.grant_access(text, name, text) is
'Let a role read, ask or analyze a corpus. Returns the statements that were executed with the caller''s own rights; none if '
'the role has this access already. corpus: one that you own. role: a login role or a group, but not a superuser; '
'pgclarify_user opens the corpus to every role that may ask, and pgclarify_reader also to those that may only read. access: '
'reader (may read views, and documents of this corpus; starts nothing), user (may also ask it), analyst (may read views and '
'see all runs on it). A corpus has one group of readers and one of analysts, created when first needed.';
grant execute on function pgclarify.grant_access(text, name, text) to pgclarify_user;

create or replace function pgclarify.revoke_access(corpus text, role name, access text default 'reader')
returns setof text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_caller pgclarify_private.caller;
    v_statement text;
begin
    select signed.* into v_caller from pgclarify_private.caller as signed;
    for v_statement in
        select planned.statement
        from pgclarify_private.revoke_statements(
            v_caller, revoke_access.corpus, revoke_access.role, revoke_access.access
        ) as planned (statement)
    loop
        perform pgclarify_private.execute_as_granter(v_caller, v_statement);
        return next v_statement;
    end loop;
end
$$;

comment on function pgclarify.revoke_access(text, name, text) is
'Remove a role from the group of readers or analysts of a corpus to which grant_access has added it, and return the '
'statements that were executed. The role keeps pgclarify_reader or pgclarify_user, which open no corpus by themselves. corpus: '
'one that you own. role: a login role or a group; pgclarify_user or pgclarify_reader closes a corpus that was opened to it. '
'access: reader or user (the same here), or analyst.';
grant execute on function pgclarify.revoke_access(text, name, text) to pgclarify_user;
