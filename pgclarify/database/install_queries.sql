-- What commands of an administrator read before there is a schema, or do beside it.

-- name: install_list_roles
-- Existing roles of these names, and whether the caller has their rights.
select
    rolname as role,
    pg_has_role(oid, 'usage') as has_usage
from pg_catalog.pg_roles
where rolname = any(%(roles)s::text[]);

-- name: install_list_open_superusers
-- Superusers who can connect to the embedded server over TCP by membership; its rules name postgres and the owner.
with recursive member (role, of_role) as (
    select oid, rolname
    from pg_catalog.pg_roles
    where rolname in ('pgclarify_reader', 'pgclarify_worker', 'pgclarify_owner')
    union
    select membership.member, member.of_role
    from pg_catalog.pg_auth_members as membership
    inner join member on member.role = membership.roleid
)
select rolname as role
from pg_catalog.pg_roles
inner join member on member.role = pg_roles.oid
where rolsuper and rolcanlogin and rolname <> 'postgres'
group by rolname
having not bool_or(member.of_role = 'pgclarify_owner')
order by rolname;
