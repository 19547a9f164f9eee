-- Which revision the tables are at, and which version the functions are of: whoever works with them has to know. Alembic makes
-- the first table.

comment on table pgclarify.schema_version is 'Revision of the tables. One row.';
comment on column pgclarify.schema_version.version_num is
'The last revision that was applied; pgclarify init brings it up to date.';
grant select on pgclarify.schema_version to pgclarify_reader, pgclarify_worker;
grant select on pgclarify_private.applied_sql to pgclarify_reader, pgclarify_worker;
