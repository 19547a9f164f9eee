-- Which revision the tables are at: whoever works with them has to know.

comment on table pgclarify.schema_version is 'Revision of the schema, kept by Alembic. One row.';
comment on column pgclarify.schema_version.version_num is 'The revision; pgclarify init brings it up to date.';
grant select on pgclarify.schema_version to pgclarify_reader, pgclarify_worker;
