-- The revision of the tables, and the version of the functions: programs that use them must know both. Alembic creates the
-- first table.

comment on table pgclarify_private.schema_version is 'Revision of the tables. One row.';
comment on column pgclarify_private.schema_version.version_num is
'The last revision that was applied; pgclarify init updates it.';
grant select on pgclarify_private.schema_version to pgclarify_reader, pgclarify_worker;
grant select on pgclarify_private.applied_sql to pgclarify_reader, pgclarify_worker;
