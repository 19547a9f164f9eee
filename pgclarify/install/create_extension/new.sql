-- Refuse a database in which pgclarify init has made the schemas.

do $$
begin
    if exists (
        select from pg_namespace
        where pg_namespace.nspname = any(string_to_array(current_setting('pgclarify.schemas'), ','))
    ) then
        raise exception 'this database has a schema of pgclarify already'
            using errcode = 'duplicate_schema',
                detail = 'pgclarify init has made it, or another role.',
                hint = 'Upgrade it with pgclarify init, or create the extension in another database.';
    end if;
end
$$;
