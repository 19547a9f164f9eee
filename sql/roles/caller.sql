-- The caller: always current_user, signed so that it cannot be forged; and the roles of that name. The login role is signed
-- beside it, for budgets alone.

create or replace view pgclarify_private.caller with (security_barrier) as
select
    current_user as name,
    sha256(
        caller_key.outer_pad || sha256(
            caller_key.inner_pad || convert_to(
                concat_ws(
                    ' ',
                    'caller',
                    pg_catalog.pg_backend_pid(),
                    extract(epoch from pg_catalog.transaction_timestamp()),
                    quote_ident(current_user)::regrole::oid,
                    quote_ident(session_user)::regrole::oid,
                    current_user,
                    session_user
                ),
                'UTF8'
            )
        )
    ) as proof,
    session_user as login
from pgclarify_private.caller_key;

comment on view pgclarify_private.caller is
'The role that executes the query and the login role, with a proof (HMAC-SHA-256 over both names and oids, backend and '
'transaction) that functions of the owner accept as their identity. One row.';
comment on column pgclarify_private.caller.name is 'current_user.';
comment on column pgclarify_private.caller.proof is 'Not valid in another backend or transaction.';
comment on column pgclarify_private.caller.login is
'session_user. Budgets also bind this role; it gives no access to anything.';
grant select on pgclarify_private.caller to pgclarify_reader, pgclarify_views;

create or replace function pgclarify_private.sign(subject text)
returns bytea
language sql stable strict parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select sha256(
        caller_key.outer_pad || sha256(caller_key.inner_pad || convert_to(sign.subject, 'UTF8'))
    )
    from pgclarify_private.caller_key;
end;

comment on function pgclarify_private.sign(text) is
'HMAC-SHA-256 of subject with the private key. No role has EXECUTE.';

create or replace function pgclarify_private.verify_caller(caller pgclarify_private.caller)
returns name
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if verify_caller.caller.proof is distinct from pgclarify_private.sign(
        concat_ws(
            ' ',
            'caller',
            pg_backend_pid(),
            extract(epoch from transaction_timestamp()),
            -- Both oids come first: a name may have blanks, but only one name has this oid.
            pgclarify_private.role_oid((verify_caller.caller).name),
            pgclarify_private.role_oid((verify_caller.caller).login),
            (verify_caller.caller).name,
            (verify_caller.caller).login
        )
    ) or (verify_caller.caller).name is null or (verify_caller.caller).login is null then
        raise exception 'the caller''s name is not proven'
            using errcode = 'insufficient_privilege',
                detail = 'Internal functions accept a row of pgclarify_private.caller of the running transaction only.',
                hint = 'Call the public functions, such as pgclarify.clarify.';
    end if;
    return (verify_caller.caller).name;
end
$$;

comment on function pgclarify_private.verify_caller(pgclarify_private.caller) is
'The caller''s name, or error 42501 if its proof is from another backend or transaction, or for another name or login.';

create or replace function pgclarify_private.verify_asker(caller pgclarify_private.caller)
returns name
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name constant name := pgclarify_private.verify_caller(verify_asker.caller);
begin
    -- What they asked or owned would belong to all their members.
    if v_name in ('pgclarify_user', 'pgclarify_reader') then
        raise exception 'role % can neither ask nor own a corpus', v_name
            using errcode = 'insufficient_privilege',
                detail = 'It stands for all its members.',
                hint = 'Run: reset role. Then ask as your own role, which must inherit pgclarify_user.';
    end if;
    return v_name;
end
$$;

comment on function pgclarify_private.verify_asker(pgclarify_private.caller) is
'The same as verify_caller, for functions that ask, and functions for owners of corpora: also error 42501 for the group roles '
'pgclarify_user and pgclarify_reader.';

create or replace function pgclarify_private.writer(caller pgclarify_private.caller)
returns pgclarify_private.caller
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_is_in_recovery() then
        raise exception 'this server is a standby, where nothing can be stored'
            using errcode = 'read_only_sql_transaction',
                hint = 'Connect to the primary, and call the function there.';
    elsif current_setting('transaction_read_only')::boolean then
        raise exception 'nothing can be stored in a read-only transaction'
            using errcode = 'read_only_sql_transaction',
                hint = 'Begin the transaction with: begin read write.';
    end if;
    return writer.caller;
end
$$;

comment on function pgclarify_private.writer(pgclarify_private.caller) is
'The caller of a function that stores something, or error 25006 on a standby and in a read-only transaction. PostgreSQL''s own '
'error would name the first statement that writes.';
grant execute on function pgclarify_private.writer(pgclarify_private.caller) to pgclarify_user;

create or replace function pgclarify_private.roles_of(role_name name)
returns name[]
language sql stable strict parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(
            array_agg(
                case
                    -- If two transactions record a name at the same time, one of them may have seen an earlier role.
                    when granted.rolname in (
                        select named.name
                        from pgclarify_private.named_role as named
                        inner join pg_catalog.pg_roles as present on named.name = present.rolname
                        group by named.name, present.oid
                        having bool_and(named.role_oid <> present.oid)
                    ) then pgclarify_private.role_mark(granted.oid)
                    else granted.rolname
                end order by granted.rolname
            ),
            '{}'
        )
    from pg_catalog.pg_roles as member
    inner join pg_catalog.pg_roles as granted on pg_catalog.pg_has_role(member.oid, granted.oid, 'usage')
    where member.rolname = roles_of.role_name;
end;

comment on function pgclarify_private.roles_of(name) is
'Roles whose rights a role has, with itself, in alphabetical order; empty for a name without a role. If a name means another '
'role here, by table named_role, the list has a mark of the role instead: the role keeps its own rows, but the name gives it '
'no access.';

create or replace function pgclarify_private.roles_of(role_name name, role_oid oid)
returns name[]
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select case
        when pgclarify_private.role_oid(roles_of.role_name) = roles_of.role_oid
            then pgclarify_private.roles_of(roles_of.role_name)
        else '{}'
    end;
end;

comment on function pgclarify_private.roles_of(name, oid) is
'The same for the role of a row, by name and oid; empty if that role was dropped, even if another role has its name now.';

create or replace function pgclarify_private.my_roles()
returns name[]
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(
            array_agg(
                case
                    when pg_roles.rolname in (select changed.name from pgclarify_private.my_changed_name as changed)
                        then pgclarify_private.role_mark(pg_roles.oid)
                    else pg_roles.rolname
                end
            ),
            '{}'
        )
    from pg_catalog.pg_roles
    where pg_catalog.pg_has_role(pg_roles.oid, 'usage');
end;

comment on function pgclarify_private.my_roles() is
'Roles whose rights current_user has, as in roles_of: for names that give access. Policies call it as (select '
'pgclarify_private.my_roles()), once for each query.';
grant execute on function pgclarify_private.my_roles() to pgclarify_reader;

create or replace function pgclarify_private.may_see_everything()
returns boolean
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select pg_catalog.pg_has_role('pgclarify_owner', 'usage');
end;

comment on function pgclarify_private.may_see_everything() is
'True if current_user has the rights of pgclarify_owner: for policies, as (select pgclarify_private.may_see_everything()).';
grant execute on function pgclarify_private.may_see_everything() to pgclarify_reader;

create or replace function pgclarify_private.my_role_oids()
returns oid[]
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(pg_roles.oid), '{}')
    from pg_catalog.pg_roles
    where pg_catalog.pg_has_role(pg_roles.oid, 'usage') or pgclarify_private.may_see_everything();
end;

comment on function pgclarify_private.my_role_oids() is
'Oids of the roles whose rows current_user sees: those whose rights it has; for members of pgclarify_owner, all. Policies call '
'it as (select pgclarify_private.my_role_oids()), once for each query.';
grant execute on function pgclarify_private.my_role_oids() to pgclarify_reader;

create or replace view pgclarify_private.my_analyzed_corpus with (security_barrier) as
select corpus.corpus_id
from pgclarify_private.living_corpus as corpus
where
    corpus.analysts && (select pgclarify_private.my_roles())::name[]
    or (select pgclarify_private.may_see_everything());

comment on view pgclarify_private.my_analyzed_corpus is
'Corpora on which current_user sees all runs. Policies read it as array(select corpus_id from it), because an index supports '
'an array, but not a subquery.';
grant select on pgclarify_private.my_analyzed_corpus to pgclarify_views;
