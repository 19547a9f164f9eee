-- Rights of table readers, as statements for the owner of the table: only the owner can grant them.

create or replace function pgclarify_private.readable_columns(relation oid)
returns table (reader oid, name name)
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- This reads the real grants, not the columns of a source: a column may have been renamed.
    select granted.grantee, pg_attribute.attname
    from pg_catalog.pg_attribute
    cross join lateral aclexplode(pg_attribute.attacl) as granted
    where
        pg_attribute.attrelid = readable_columns.relation
        and pg_attribute.attnum > 0
        and not pg_attribute.attisdropped
        and granted.privilege_type = 'SELECT'
        and pg_get_userbyid(granted.grantee) ~ '^pgclarify_reads_[0-9]+_[0-9a-f]{8}$';
end;

comment on function pgclarify_private.readable_columns(oid) is
'Columns of a table that table readers may read, including table readers of its former owners.';

create or replace function pgclarify_private.revocation(relation oid, reader oid, names name[])
returns text
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select format(
        'revoke select (%s) on table %s from %I',
        string_agg(quote_ident(listed.name), ', ' order by listed.name), revocation.relation::regclass,
        pg_get_userbyid(revocation.reader)
    )
    from unnest(revocation.names) as listed (name);
end;

comment on function pgclarify_private.revocation(oid, oid, name[]) is
'The statement that revokes columns of a table from a table reader.';

create or replace function pgclarify_private.missing_grants(source pgclarify_private.source)
returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- If the owner has changed, code of the former owner could read the table as the former owner's table reader.
    select pgclarify_private.revocation(missing_grants.source.relation, readable.reader, array_agg(readable.name))
    from pgclarify_private.readable_columns(missing_grants.source.relation) as readable
    where pg_get_userbyid(readable.reader) <> pgclarify_private.table_reader_of(missing_grants.source.relation)
    group by readable.reader
    union all
    select format('grant usage on schema %I to %I', pg_namespace.nspname, pg_roles.rolname)
    from pg_catalog.pg_class
    inner join pg_catalog.pg_namespace on pg_class.relnamespace = pg_namespace.oid
    inner join pg_catalog.pg_roles on pg_roles.rolname = pgclarify_private.table_reader_of(pg_class.oid)
    where
        pg_class.oid = missing_grants.source.relation
        and not has_schema_privilege(pg_roles.oid, pg_namespace.oid, 'usage')
    union all
    select format(
        'grant select (%s) on table %s to %I',
        string_agg(distinct quote_ident(used.name), ', '), missing_grants.source.relation::text, pg_roles.rolname
    )
    from pgclarify_private.used_columns(missing_grants.source) as used
    inner join pg_catalog.pg_roles on pg_roles.rolname = pgclarify_private.table_reader_of(missing_grants.source.relation)
    where not has_column_privilege(pg_roles.oid, missing_grants.source.relation, used.name::text, 'select')
    group by pg_roles.rolname;
end;

comment on function pgclarify_private.missing_grants(pgclarify_private.source) is
'Statements that let only its table reader read the used columns of an attached table; none if nothing is missing.';

create or replace function pgclarify_private.spare_grants(source pgclarify_private.source)
returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.revocation(spare_grants.source.relation, readable.reader, array_agg(readable.name))
    from pgclarify_private.readable_columns(spare_grants.source.relation) as readable
    where
        not exists (
            select from pgclarify_private.source as other
            cross join lateral pgclarify_private.used_columns(other) as needed
            where
                other.relation = spare_grants.source.relation
                and other.source_id <> spare_grants.source.source_id
                and other.state not in ('detached', 'removing')
                and needed.name = readable.name
        )
    group by readable.reader
    union all
    select format('revoke usage on schema %I from %I', pg_namespace.nspname, pg_get_userbyid(granted.grantee))
    from pg_catalog.pg_class
    inner join pg_catalog.pg_namespace on pg_class.relnamespace = pg_namespace.oid
    cross join lateral aclexplode(pg_namespace.nspacl) as granted
    where
        pg_class.oid = spare_grants.source.relation
        -- Other roles may have made that grant, but the owner of the table can revoke it only in its own schema.
        and pg_has_role(pg_class.relowner, pg_namespace.nspowner, 'usage')
        and granted.grantor = pg_namespace.nspowner
        and granted.privilege_type = 'USAGE'
        and pg_get_userbyid(granted.grantee) = pgclarify_private.table_reader_of(pg_class.oid)
        and not exists (
            select from pgclarify_private.source as other
            inner join pg_catalog.pg_class as kept on other.relation = kept.oid
            where
                other.source_id <> spare_grants.source.source_id
                and other.state not in ('detached', 'removing')
                and kept.relnamespace = pg_class.relnamespace
                and kept.relowner = pg_class.relowner
        );
end;

comment on function pgclarify_private.spare_grants(pgclarify_private.source) is
'Statements that revoke what table readers may read of a table only because of this source, and of its schema if no other '
'table there is attached.';
