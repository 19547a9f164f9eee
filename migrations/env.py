"""Alembic environment. `pgclarify.install` opens the connection and the transaction, or writes a script."""

from alembic import context

from pgclarify.schema import PRIVATE_SCHEMA, metadata

context.configure(
    connection=context.config.attributes.get("connection"),
    dialect_name="postgresql",
    # With its own style of parameters, a script would have each percent sign twice.
    dialect_opts={"paramstyle": "named"},
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema=PRIVATE_SCHEMA,
    # A script of an extension may not begin a transaction.
    transactional_ddl=not context.is_offline_mode(),
)
with context.begin_transaction():
    context.run_migrations()
