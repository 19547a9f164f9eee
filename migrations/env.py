"""Alembic environment. `pgclarify.install` opens the connection and the transaction; nothing runs without it."""

from alembic import context

from pgclarify.schema import PRIVATE_SCHEMA, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema=PRIVATE_SCHEMA,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
