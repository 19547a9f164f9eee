-- Which role may create triggers that call the function of a source.

create or replace function pgclarify_private.grant_capture(source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_statement text;
begin
    -- The table's owner creates triggers when it adds a partition, restores a dump or calls attach_table. A role that only
    -- fires a trigger needs no right.
    for v_statement in
        with capture as (
            select pg_proc.oid, pg_proc.proowner, pg_proc.proacl, pg_class.relowner
            from pgclarify_private.source
            inner join pg_class on pg_class.oid = source.relation
            inner join pg_proc
                on
                    pg_proc.pronamespace = 'pgclarify_private'::regnamespace
                    and pg_proc.proname = 'capture_' || source.source_id
            where source.source_id = grant_capture.source_id
        ),
        granted as (
            select capture.oid, capture.relowner, privilege.grantee
            from capture
            cross join lateral aclexplode(coalesce(capture.proacl, acldefault('f', capture.proowner))) as privilege
            where privilege.grantee <> capture.proowner
        )
        select format(
            'revoke execute on function %s from %s',
            granted.oid::regprocedure,
            case granted.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(granted.grantee)) end
        )
        from granted
        where granted.grantee <> granted.relowner
        union all
        select format(
            'grant execute on function %s to %I', capture.oid::regprocedure, pg_get_userbyid(capture.relowner)
        )
        from capture
        where not exists (select from granted where granted.grantee = capture.relowner)
    loop
        -- Without this lock, a worker would get an error if another one changes the rights at the same time.
        exit when (pgclarify_private.take_source(grant_capture.source_id)).source_id is null;
        execute v_statement;
    end loop;
end
$$;

comment on function pgclarify_private.grant_capture(bigint) is
'Let the current owner of an attached table, and no other role, create triggers that call the function of the source.';
