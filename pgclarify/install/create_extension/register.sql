-- Let dumps hold the rows of tables and the states of sequences. Not those of tables whose rows the script itself has inserted:
-- what is installed, and the keys. Partitions are not of the extension, so dumps hold them anyway.

do $$
declare
    v_relation regclass;
begin
    for v_relation in
        select pg_class.oid
        from pg_depend
        inner join pg_class on pg_class.oid = pg_depend.objid
        where pg_depend.classid = 'pg_class'::regclass
            and pg_depend.refclassid = 'pg_extension'::regclass
            and pg_depend.refobjid = (select oid from pg_extension where extname = 'pgclarify')
            and pg_depend.deptype = 'e'
            and pg_class.relkind in ('r', 'S')
            and pg_class.oid not in (
                'pgclarify_private.schema_version'::regclass,
                'pgclarify_private.applied_sql'::regclass,
                'pgclarify_private.caller_key'::regclass,
                'pgclarify_private.loopback'::regclass
            )
    loop
        perform pg_extension_config_dump(v_relation, '');
    end loop;
end
$$;
