-- PostgreSQL lets PUBLIC execute every new function; ours are granted one by one.

alter default privileges for role pgclarify_owner revoke execute on functions from public;

-- A restore without rights gives PUBLIC those on functions that exist.
do $$
declare
    v_statement text;
begin
    for v_statement in
        select format('revoke execute on routine %s from public', pg_proc.oid::regprocedure)
        from pg_catalog.pg_proc
        where
            pg_proc.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            and pg_has_role(pg_proc.proowner, 'usage')
            and exists (
                select from aclexplode(coalesce(pg_proc.proacl, acldefault('f', pg_proc.proowner))) as granted
                where granted.grantee = 0
            )
    loop
        execute v_statement;
    end loop;
end
$$;
