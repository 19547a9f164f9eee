-- Which revision the tables are at (Alembic's table): whoever works with them has to know.

grant select on pgclarify.schema_version to pgclarify_reader, pgclarify_worker;
