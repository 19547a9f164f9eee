-- The role that a stored name means. A role can be dropped, and another one can be created with its name. So a row that belongs
-- to a role has the role's oid beside the name, and both must match. Names that give access (readers and analysts of a corpus,
-- readers of a document, role of a budget) mean the role that had the name when it was first written: table named_role has its
-- oid.

create or replace function pgclarify_private.role_oid(role_name name)
returns oid
language sql stable parallel safe
begin atomic
    select coalesce(pg_catalog.to_regrole(pg_catalog.quote_ident(role_oid.role_name::text))::oid, 0::oid);
end;

comment on function pgclarify_private.role_oid(name) is 'Oid of the role that has this name now; 0 if there is none.';

create or replace function pgclarify_private.role_mark(role_oid oid)
returns name
language sql immutable parallel safe
begin atomic
    select ('pg_' || role_mark.role_oid::text)::name;
end;

comment on function pgclarify_private.role_mark(oid) is
'Stands for a role in a list if its name means another role here. PostgreSQL reserves names that begin with pg_, so no role '
'has such a name.';
grant execute on function pgclarify_private.role_mark(oid) to pgclarify_reader;

create or replace function pgclarify_private.belongs_to(role_name name, role_oid oid, roles name[])
returns boolean
language sql stable parallel safe
begin atomic
    select
        (
            belongs_to.role_name = any(belongs_to.roles)
            or pgclarify_private.role_mark(belongs_to.role_oid) = any(belongs_to.roles)
        )
        and pgclarify_private.role_oid(belongs_to.role_name) = belongs_to.role_oid;
end;

comment on function pgclarify_private.belongs_to(name, oid, name[]) is
'Whether a row belongs to one of these roles. role_name, role_oid: of the row. roles: as from roles_of. False if another '
'role has the name now.';

create or replace function pgclarify_private.is_among(role_name name, role_oid oid, role_oids oid[])
returns boolean
language sql stable parallel safe
begin atomic
    -- The first condition can use an index.
    select
        is_among.role_oid = any(is_among.role_oids)
        and is_among.role_name = pg_catalog.pg_get_userbyid(is_among.role_oid);
end;

comment on function pgclarify_private.is_among(name, oid, oid[]) is
'The same as belongs_to, for policies. role_oids: (select pgclarify_private.my_role_oids()).';
grant execute on function pgclarify_private.is_among(name, oid, oid[]) to pgclarify_reader;

create or replace function pgclarify_private.may_search(readers name[], owner name, owner_oid oid, roles name[])
returns boolean
language sql stable parallel safe
begin atomic
    -- roles is used only once: otherwise the planner does not inline this function in policies, where roles is a subquery. It
    -- estimates that an overlap with an array holds for one row of a hundred, but coalesce for half of them.
    select coalesce(
        may_search.roles && case
            when pg_catalog.pg_get_userbyid(may_search.owner_oid) = may_search.owner
                then may_search.readers
                || array[may_search.owner, pgclarify_private.role_mark(may_search.owner_oid), 'pgclarify_owner']
            else may_search.readers || 'pgclarify_owner'::name
        end,
        false
    );
end;

comment on function pgclarify_private.may_search(name[], name, oid, name[]) is
'Whether a holder of these roles may search a corpus: its readers, its owner, pgclarify_owner and members of these roles '
'may. No other function decides this. readers, owner, owner_oid: of the corpus. roles: '
'as from roles_of; in policies (select pgclarify_private.my_roles()).';
grant execute on function pgclarify_private.may_search(name[], name, oid, name[]) to pgclarify_reader;

create or replace function pgclarify_private.may_change(owner name, owner_oid oid, roles name[])
returns boolean
language sql stable parallel safe
begin atomic
    select
        pgclarify_private.belongs_to(may_change.owner, may_change.owner_oid, may_change.roles)
        or 'pgclarify_owner'::name = any(may_change.roles);
end;

comment on function pgclarify_private.may_change(name, oid, name[]) is
'Whether a holder of these roles may change what belongs to a role, such as a corpus: members of that role and of '
'pgclarify_owner may. No other function decides this. It sets no search_path, so that the planner can inline it.';

create or replace function pgclarify_private.may_see_all(owner name, owner_oid oid, analysts name[], roles name[])
returns boolean
language sql stable parallel safe
begin atomic
    select
        pgclarify_private.may_change(may_see_all.owner, may_see_all.owner_oid, may_see_all.roles)
        or may_see_all.analysts && may_see_all.roles;
end;

comment on function pgclarify_private.may_see_all(name, oid, name[], name[]) is
'Whether a holder of these roles may see all counts of a corpus, or of what a role has asked of it: those that may change it, '
'and its analysts. Null if only unknown analysts might. It can be inlined, too.';

create or replace function pgclarify_private.note_roles(names name[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into pgclarify_private.named_role (name, role_oid)
    select pg_roles.rolname, pg_roles.oid
    from pg_roles
    where
        pg_roles.rolname = any(note_roles.names)
        -- The installation's own roles are the same in every database of a server.
        and pg_roles.rolname !~ '^pgclarify_(owner|views|reader|user|worker|loopback|capture|role_maker)$'
        and not exists (select from pgclarify_private.named_role as named where named.name = pg_roles.rolname);
end
$$;

comment on function pgclarify_private.note_roles(name[]) is
'Record which roles these names mean, if that is not recorded yet. Names without a role are skipped.';

create or replace view pgclarify_private.my_changed_name as
-- Materialized, because a leakproof comparison would be pushed into a security barrier. Wrapped as in public views
-- (views/wrapping.sql), because estimates use statistics through a materialized part.
with changed as materialized (
    select (named.name || '')::name as name
    from pgclarify_private.named_role as named
    inner join pg_catalog.pg_roles as present on named.name = present.rolname
    where pg_catalog.pg_has_role(present.oid, 'usage')
    group by named.name, present.oid
    -- If two transactions record a name at the same time, one of them may have seen an earlier role.
    having bool_and(named.role_oid <> present.oid)
)

select changed.name
from changed;

comment on view pgclarify_private.my_changed_name is
'Names of the roles whose rights current_user has, but which mean another role here. For my_roles.';
comment on column pgclarify_private.my_changed_name.name is 'The name.';
grant select on pgclarify_private.my_changed_name to pgclarify_reader;
