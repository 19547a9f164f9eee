-- Note the present rights on functions and relations as those of the extension: otherwise a dump would repeat them, one by one,
-- and could not be restored with a version that lacks one of the objects. These statements change no right.

do $$
declare
    v_statement text;
begin
    for v_statement in
        select format('revoke execute on routine %s from public', pg_proc.oid::regprocedure)
        from pg_proc
        where pg_proc.pronamespace::regnamespace::text = any(string_to_array(current_setting('pgclarify.schemas'), ','))
            and pg_proc.proacl is not null
            and not exists (
                select from aclexplode(pg_proc.proacl) as granted
                where granted.grantee = 0
            )
        union all
        select format('revoke truncate on %s from public', pg_class.oid::regclass)
        from pg_class
        where pg_class.relnamespace::regnamespace::text = any(string_to_array(current_setting('pgclarify.schemas'), ','))
            and pg_class.relkind in ('r', 'p', 'v')
            and pg_class.relacl is not null
    loop
        execute v_statement;
    end loop;
end
$$;
